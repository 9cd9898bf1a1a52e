import t from 'tap'
import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { seed } from '../../unit/engine/merge/schemas.ts'
import { runs } from '../../unit/runs.ts'
import { testCluster } from '../harness/fixture.ts'
import { MERGE_CASES } from './cases.ts'
import { EVERY_SORT_CRD } from './every-sort.ts'
import { BUILT_IN, CUSTOM, EVERY_SORT, isMerged, MERGE_CRDS } from './kinds.ts'
import { createOracle } from './oracle.ts'
import { compareKind } from './property.ts'
import { readServed } from './served.ts'
import { SORTS } from './sorts.ts'

const REAL = [...BUILT_IN, ...CUSTOM]
const CASES = runs(9)
const CASES_OF_EVERY_SORT = runs(40)

t.test('the merge, beside the API server’s own', async (t) => {
  const cluster = await testCluster(t, { crds: isMerged, samples: false })
  await install(cluster, [...loadManifests(MERGE_CRDS), EVERY_SORT_CRD])
  const servedOf = await readServed(cluster, [EVERY_SORT, ...REAL])
  const oracle = await createOracle(cluster, servedOf)

  for (const pair of MERGE_CASES) {
    await t.test(`merges ${pair.name} of a ${pair.kind} as it does`, async (t) => {
      const comparison = await oracle(pair)
      if (comparison.kind === 'refused') throw new Error(comparison.message)
      t.same(comparison.ours, comparison.theirs)
      t.same(comparison.left, [], 'and nothing is left to be merged')
    })
  }

  const compare = (kind: typeof EVERY_SORT, cases: number) =>
    compareKind(oracle, kind, servedOf(kind), { cases, seed })
  const [ofEverySort, ...findings] = await Promise.all([
    compare(EVERY_SORT, CASES_OF_EVERY_SORT),
    ...REAL.map((kind) => compare(kind, CASES)),
  ])

  for (const { kind, problem, counterexample } of [ofEverySort, ...findings]) {
    await t.test(`merges any two of ${kind.kind} as it does, with seed ${seed}`, async (t) => {
      t.equal(problem, undefined, JSON.stringify(counterexample))
    })
  }

  await t.test('meets every sort of merge in real kinds', async (t) => {
    t.ok(BUILT_IN.length >= 8 && CUSTOM.length >= 10)
    const met = new Set(findings.flatMap(({ sorts }) => [...sorts]))
    t.same(
      SORTS.filter((sort) => !met.has(sort)),
      [],
    )
  })
})
