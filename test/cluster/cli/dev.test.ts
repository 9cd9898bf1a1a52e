import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { isAlive } from '../../../tools/control-plane/processes.ts'
import { findBinaries } from '../../../tools/go-programs/binaries.ts'
import { environment, testCluster } from '../harness/fixture.ts'
import { METALLB } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { interrupt, paste, startDev, toTry } from './npm-start.ts'

t.test(
  'npm start: everything runs, what it says to try works, and Ctrl-C leaves nothing',
  async (t) => {
    const dev = startDev(t)
    await dev.untilPrinted('Ctrl-C ends everything')
    const text = dev.printed()
    const { kubeconfig, commands } = toTry(text)
    const webhookPid = Number(/kill -9 (\d+)/.exec(text)?.[1])
    t.equal(commands.length, 5)
    const { kubectl } = await findBinaries({ env: environment(), print: (line) => t.comment(line) })
    const expected = [
      { code: 0, said: /machineconfig\S*\/90-worker-swap-online/ },
      {
        code: 0,
        said: /allowPostCopy kept at false by virt-platform-autopilot.*\n.*To change it: kubectl annotate/,
      },
      { code: 0, said: /annotated/ },
      { code: 1, said: /would reboot \d nodes of pool worker/ },
      { code: 0, said: /annotated/ },
    ]
    for (const [index, command] of commands.entries()) {
      const { code, said } = await paste(command, kubeconfig, kubectl)
      t.equal(code, expected[index]?.code, command)
      t.match(said, expected[index]?.said ?? /^$/)
    }
    const get = `kubectl get hyperconverged -n openshift-cnv kubevirt-hyperconverged -o jsonpath='{.spec.virtualization.liveMigrationConfig}'`
    t.match(
      (await paste(get, kubeconfig, kubectl)).said,
      /"allowPostCopy":true/,
      'the way out sticks',
    )

    process.kill(webhookPid, 'SIGKILL')
    await dev.untilPrinted('the webhook ended')
    const edit = `kubectl patch hyperconverged -n openshift-cnv kubevirt-hyperconverged --type merge -p '{"spec":{"virtualization":{"liveMigrationConfig":{"allowAutoConverge":true}}}}'`
    t.equal((await paste(edit, kubeconfig, kubectl)).code, 0)
    const editedAt = performance.now()
    await until('the edit is healed', async () =>
      /"allowAutoConverge":false/.test((await paste(get, kubeconfig, kubectl)).said),
    )
    t.comment(
      `healed within ${Math.round(performance.now() - editedAt)} ms, kubectl's own time included`,
    )

    t.equal(await interrupt(dev.child), 0)
    t.notOk(existsSync(dirname(kubeconfig)), 'its folder is gone')
    t.notOk(isAlive(webhookPid))
  },
)

t.test('a folder of assets that is none ends it, before anything is started', async (t) => {
  const dev = startDev(t, ['--assets=/nowhere'])
  const [code] = await once(dev.child, 'close')
  t.equal(code, 1)
  t.equal(dev.printed(), 'virt-platform-autopilot: /nowhere/catalog.yaml: /nowhere is no folder\n')
})

t.test('on a cluster of one’s own', async (t) => {
  const cluster = await testCluster(t)

  t.test('it only looks, and says what it would change', async (t) => {
    const dev = startDev(t, [`--kubeconfig=${cluster.kubeconfig}`])
    await dev.untilPrinted('observing only')
    t.match(dev.printed(), /MetalLB metallb-system\/metallb \(metallb\): would be created/)
    t.match(dev.printed(), /HyperConverged \S+ \(hco-golden-config\): would be changed/)
    t.match(dev.printed(), /\(swap-enable\): would be created; reboots .*; waits for approval/)
    t.equal((await cluster.admin('GET', METALLB)).status, 404)
    t.equal((await cluster.admin('GET', '/api/v1/namespaces/virt-platform-autopilot')).status, 404)
    t.equal(await interrupt(dev.child), 0)
  })

  t.test('what reboots nodes would not wait where the flag says so', async (t) => {
    const flags = [`--kubeconfig=${cluster.kubeconfig}`, '--disruptive-changes=apply']
    const dev = startDev(t, flags)
    await dev.untilPrinted('observing only')
    t.match(dev.printed(), /\(swap-enable\): would be created; reboots /)
    t.notMatch(dev.printed(), 'waits for approval')
    t.equal(await interrupt(dev.child), 0)
  })

  t.test('with --write it changes it, and what reboots nodes waits', async (t) => {
    const dev = startDev(t, [`--kubeconfig=${cluster.kubeconfig}`, '--write'])
    await dev.untilPrinted('changing it from now on')
    t.match(
      dev.printed(),
      /MetalLB metallb-system\/metallb \(metallb\): would be created/,
      'told first',
    )
    await until('MetalLB exists', async () => (await cluster.admin('GET', METALLB)).status === 200)
    const configs = await cluster.admin<{ items: KubeObject[] }>(
      'GET',
      '/apis/machineconfiguration.openshift.io/v1/machineconfigs',
    )
    const names = configs.body.items.map(({ metadata }) => metadata.name)
    t.same(names, ['01-master-kubelet', '01-worker-kubelet'], 'none of ours')
    t.equal(await interrupt(dev.child), 0)
    t.equal((await cluster.admin('GET', METALLB)).status, 200, 'what was applied stays')
  })
})
