import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { gitopsCluster, pathOf } from './gitops-cluster.ts'
import { blocks, inGit } from './page.ts'
import type { Tool } from './tools.ts'

const PATCH = 'platform.kubevirt.io/patch'
const POLICY = 'kustomize.toolkit.fluxcd.io/ssa'
const ROUNDS = 3

/** The manifest with other annotations; undefined takes one away. */
const annotated = (manifest: KubeObject, changes: Readonly<Record<string, string | undefined>>) => {
  const annotations = { ...manifest.metadata.annotations, ...changes }
  // Through JSON, which knows no undefined.
  return JSON.parse(
    JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, annotations } }),
  )
}

t.test('what the page has in Git', async (t) => {
  const cluster = await gitopsCluster(t)
  const { read, forget, settle, quarrels, tools } = cluster
  const alice = cluster.person('alice')
  const [hco] = inGit
  if (!hco) throw new Error('the page has no HyperConverged')
  const sync = async (tool: Tool, manifest: KubeObject) => {
    const path = pathOf(manifest)
    await until(
      `${path} is there, or to be made`,
      async () => manifest === hco || (await read(path)),
    )
    await settle(tool, manifest)
  }
  const annotations = async () => (await read(HCO)).metadata.annotations

  for (const tool of tools) {
    await t.test(`${tool.name} and the autopilot do not fight about it`, async (t) => {
      await forget()
      const before = await quarrels()
      for (const manifest of inGit) {
        const path = pathOf(manifest)
        await sync(tool, manifest)
        const { resourceVersion } = (await read(path)).metadata
        for (let round = 0; round < ROUNDS; round++) {
          t.equal(await tool.compare(path, manifest), 'Synced')
          t.equal(await tool.sync(path, manifest), undefined)
        }
        t.equal((await read(path)).metadata.resourceVersion, resourceVersion, 'nothing is written')
      }
      t.equal(await quarrels(), before, 'nobody contests, and nothing is healed')
      t.match((await read(HCO)).spec, {
        virtualization: {
          evictionStrategy: 'LiveMigrate',
          liveMigrationConfig: { allowPostCopy: true, allowAutoConverge: true },
        },
      })
      t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '75%')
    })

    await t.test(`${tool.name} takes an override off that is not in Git any more`, async (t) => {
      const without = annotated(hco, { [PATCH]: undefined })
      await settle(tool, without)
      t.notOk(PATCH in (await annotations()))
      t.equal((await read(HCO)).spec.virtualization.liveMigrationConfig.allowPostCopy, false)
    })

    await t.test(`what somebody annotates by hand, beside ${tool.name}`, async (t) => {
      const key = 'platform.kubevirt.io/enforcement'
      const isFlux = tool.name === 'flux'
      const by = async (line: string, manifest: KubeObject) => {
        t.match(await alice.shell(line), { code: 0 })
        t.equal(await tool.sync(HCO, manifest), undefined)
        return (await annotations())[key]
      }
      const kubectl = ['kubectl annotate', ...HYPERCONVERGED, '--overwrite', `${key}=deny`].join(
        ' ',
      )
      t.equal(await by(kubectl, hco), isFlux ? undefined : 'deny', 'as kubectl does it')
      const [another = ''] = blocks('sh').filter((line) => line.includes('--field-manager='))
      t.equal(await by(another, hco), 'deny', 'as the page does it')
      t.match(await alice.shell(`kubectl annotate ${HYPERCONVERGED.join(' ')} ${key}-`), {
        code: 0,
      })
      const merging = annotated(hco, { [POLICY]: 'Merge' })
      t.equal(await by(kubectl, merging), 'deny', 'where the policy is to merge')
    })
  }

  await t.test('what is pruned comes back without its overrides', async (t) => {
    t.match(await alice(['delete', 'nodehealthcheck', 'virt-node-health-check']), { code: 0 })
    const again = await until('it is back', () => read(HEALTH_CHECK))
    t.equal(again.spec.minHealthy, '51%')
    t.equal(again.metadata.annotations, undefined)
  })
})
