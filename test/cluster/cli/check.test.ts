import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { isMap, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import { formatPointer } from '../../../src/shared/engine/json/pointer.ts'
import { seed } from '../../unit/engine/merge/schemas.ts'
import { runs } from '../../unit/runs.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import { run } from '../harness/run.ts'

const CASES = runs(40)
const PREFIX = 'platform.kubevirt.io/'

/** What leads to each scalar, and to each list, in the content of an object. */
function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (!isMap(value)) return [path]
  return Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
}

const OTHERS: Readonly<Record<string, (value: Loose) => unknown>> = {
  boolean: (value) => !value,
  number: (value) => value + 1,
  string: (value) => `${value}x`,
  object: (value) => value.slice(1),
}

/** Sets the member at a path, or takes it away, but for the last one: an empty map of a built-in kind the API server takes for none. */
function change(object: Loose, path: readonly string[], of: (value: unknown) => unknown): void {
  const holder = path.slice(0, -1).reduce((at, name) => at?.[name], object)
  const last = path.at(-1) ?? ''
  if (!holder || !(last in holder)) return
  const value = of(holder[last])
  if (value !== undefined) holder[last] = value
  else if (Object.keys(holder).length > 1) delete holder[last]
}

const other = (value: unknown) => OTHERS[typeof value]?.(value)

/** The annotations that may come along with the edit of a field. */
const ANNOTATIONS: readonly ((pointer: string, value: unknown) => Record<string, string>)[] = [
  () => ({}),
  () => ({}),
  (path, value) => ({ patch: JSON.stringify([{ op: 'add', path, value: value ?? null }]) }),
  (pointer) => ({ 'ignore-fields': pointer }),
  () => ({ mode: 'unmanaged' }),
  () => ({ mode: 'mine' }),
  () => ({ patch: '[]x' }),
  () => ({ 'reconcile-paused': 'true' }),
  () => ({ 'ignore-field': '/spec' }),
]

/** Manifests as somebody keeps them who took a baseline and edited it. */
const manifestOf = (baselines: readonly KubeObject[]) =>
  fc.constantFrom(...baselines).chain((baseline) => {
    const { apiVersion: _a, kind: _k, metadata: _m, status: _s, ...content } = baseline
    const paths = pathsIn(content)
    const some = fc.subarray([...paths], { maxLength: Math.min(2, paths.length) })
    return fc
      .record({
        changed: some,
        leftOut: some,
        annotate: fc.constantFrom(...ANNOTATIONS),
        labels: fc.constantFrom({}, { mine: 'yes' }, { [`${PREFIX}managed-by`]: 'me' }),
      })
      .map(({ changed, leftOut, annotate, labels }) => {
        const manifest: Loose = structuredClone(baseline)
        for (const path of changed) change(manifest, path, other)
        for (const path of leftOut) change(manifest, path, () => undefined)
        const [path = paths[0] ?? []] = changed
        const value = path.reduce((at: Loose, name) => at?.[name], manifest)
        const annotations = Object.entries(annotate(formatPointer(path), value))
        if (annotations.length > 0)
          manifest.metadata.annotations = Object.fromEntries(
            annotations.map(([name, text]) => [PREFIX + name, text]),
          )
        manifest.metadata.labels = { ...manifest.metadata.labels, ...labels }
        return manifest as KubeObject
      })
  })

/** Whether all that a manifest states is in the object; lists may have items of others, too. */
function isStored(stated: unknown, stored: unknown): boolean {
  if (Array.isArray(stated))
    return stated.every((item) => Array.isArray(stored) && stored.some((at) => isStored(item, at)))
  if (!isMap(stated)) return stated === stored
  const members = Object.entries(stated)
  return isMap(stored) && members.every(([name, member]) => isStored(member, stored[name]))
}

const PUT_BACK = / (kept at|set to) .* by virt-platform-autopilot \(/

/** What the API server made of a manifest; undefined where it was somebody else who refused it. */
function answerIn(manifest: KubeObject, { code, stdout, stderr }: Said) {
  const said = stderr.split('\n').flatMap((line) => /^Warning: (.*)$/.exec(line)?.[1] ?? [])
  const [, denial] = /denied the request: ([\s\S]*?)\n*$/.exec(stderr) ?? []
  if (denial !== undefined) return { verdict: 'denied', messages: [denial] }
  if (code !== 0) return undefined
  const isCorrected = said.some((line) => PUT_BACK.test(line))
  // A list or map that is stored as a whole may be stated empty: only the warning tells of that.
  if (!isCorrected && !isStored(manifest, JSON.parse(stdout)))
    throw new Error(`told nothing of what is not stored: ${stdout}`)
  return { verdict: isCorrected ? 'corrected' : 'allowed', messages: said }
}

t.test('check says what the API server will', async (t) => {
  const cluster = await autopilotCluster(t)
  const alice = cluster.person('alice')
  const kubeconfig = `--kubeconfig=${cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })}`
  const online = [kubeconfig, `--namespace=${NAMESPACE}`]
  const rendered = await run(['render', ...online, '-o', 'json'])
  const { items }: { items: readonly KubeObject[] } = JSON.parse(rendered.stdout)
  const manifests = fc.sample(manifestOf(items), { numRuns: CASES, seed })
  const file = join(cluster.dataDir, 'manifests.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }))
  const findings = async (flags: readonly string[]): Promise<readonly Loose[]> => {
    const { code, stdout, stderr } = await run(['check', file, '-o', 'json', ...flags])
    t.not(code, 0, stderr)
    return JSON.parse(stdout).findings
  }
  const told = await findings(online)
  const met = new Set<string>()

  await t.test(`${CASES} edited baselines, with seed ${seed}`, async (t) => {
    t.equal(told.length, manifests.length, 'each of them is of ours')
    const apply = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '-ojson']
    for (const [index, manifest] of manifests.entries()) {
      const input = JSON.stringify(manifest)
      const answer = answerIn(manifest, await alice([...apply, '-f-'], { input }))
      if (!answer) continue
      const { verdict, messages } = told[index]
      met.add(verdict)
      t.equal(verdict, answer.verdict, input)
      t.same([...messages].sort(), answer.messages.sort(), input)
    }
    t.same([...met].sort(), ['allowed', 'corrected', 'denied'], 'all verdicts were met')
  })

  await t.test('offline it gives the same verdicts, from what the cluster was asked', async (t) => {
    const dump = async (name: string, ...kinds: readonly string[]) => {
      const { stdout } = await alice(['get', kinds.join(','), '-A', '-ojson'])
      const path = join(cluster.dataDir, name)
      writeFileSync(path, stdout)
      return path
    }
    const hco = await dump('hco.json', 'hyperconvergeds')
    const nodes = await dump(
      'nodes.json',
      'nodes',
      'infrastructures',
      'schedulers',
      'machineconfigpools',
      'kubeletconfigs',
      'machineconfigs',
      'nodehealthchecks',
      'selfnoderemediationtemplates',
      'daemonsets',
    )
    const offline = await findings([`--hco=${hco}`, `--nodes=${nodes}`, `--namespace=${NAMESPACE}`])
    t.equal(offline.length, told.length)
    for (const [index, { verdict, reason }] of offline.entries()) {
      // Of kinds of the API server itself no schema comes with the program.
      if (reason !== 'SchemaUnknown')
        t.equal(verdict, told[index].verdict, JSON.stringify(manifests[index]))
    }
  })

  await t.test('without a state to read it says so, and 2', async (t) => {
    const said = await run(['check', file, kubeconfig, '--namespace=default'])
    t.match(said, { code: 2, stdout: '', stderr: /no reconciler has published its state/ })
  })
})
