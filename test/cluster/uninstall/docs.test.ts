import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { autopilotCluster, ENTRY, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, KUBELET, METALLB, SWAP } from '../harness/objects.ts'
import { OUR_NAMESPACE, OWNER, REGISTERED, untilGone } from './uninstall.ts'

const PAGE = join(import.meta.dirname, '../../../docs/baseline/uninstalling.md')
const DEFAULT = 'virt-platform-autopilot'
const PROGRAM = 'npm run -s autopilot --'

/** The lines of a page that are to be pasted, as they are where the product is in the tests' namespace. */
const linesOf = (page: string): readonly string[] =>
  [...page.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap(([, block = '']) => block.trim().split('\n'))
    .map((line) =>
      line
        .replace(`${PROGRAM} rbac`, `${PROGRAM} rbac --namespace=${NAMESPACE}`)
        .replace(PROGRAM, `'${process.execPath}' '${ENTRY}'`)
        .replace(`namespace ${DEFAULT}`, `namespace ${NAMESPACE}`),
    )

t.test('what the page on uninstalling says to paste does what it says', async (t) => {
  const cluster = await autopilotCluster(t, { controllerManager: true })
  const { read, autopilot } = cluster
  const { shell } = cluster.person('alice')
  const [unregister = '', ...rest] = linesOf(readFileSync(PAGE, 'utf8'))
  const [kept, removed] = [[HCO], [SWAP, KUBELET, HEALTH_CHECK, METALLB]]
  const uidsOf = async (paths: readonly string[]) =>
    (await Promise.all(paths.map(read))).map((object) => object?.metadata.uid)
  const before = await uidsOf([...kept, ...removed])

  t.match(await shell(unregister), { code: 0, stdout: 'the webhook configurations are gone\n' })
  t.same(await Promise.all(REGISTERED.map(read)), [undefined, undefined])
  await autopilot.stop()
  for (const line of rest.slice(0, 2)) {
    const { code, stderr } = await shell(line)
    t.same([code, stderr], [0, ''], line)
  }
  for (const path of [OUR_NAMESPACE, OWNER, ...REGISTERED]) await untilGone(cluster, path)
  t.same(await uidsOf([...kept, ...removed]), before, 'what was managed remains')

  const [list = '', ...removals] = rest.slice(2)
  t.match((await shell(list)).stdout, /90-worker-swap-online.*virt-node-health-check/s)
  t.equal(removals.length, 3)
  for (const line of removals) {
    const { code, stderr } = await shell(line)
    t.same([code, stderr], [0, ''], line)
  }
  t.same(await uidsOf(removed), [undefined, undefined, undefined, undefined])
  t.same(await uidsOf(kept), before.slice(0, 1), 'but for the HyperConverged')
})
