import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import { isManaged, keptObjects } from './kept.ts'
import { bringPlatform } from './platform.ts'
import { eventually, type Rehearsal } from './rehearsal.ts'
import { drain, underWrites } from './rolling.ts'
import { METRICS, SERVICE, targetPortOf, toTargetPort } from './service.ts'
import { uninstall } from './uninstall.ts'
import { fight } from './war.ts'

/** One step of a rehearsal: what holds once it is done, and how to do it. It rejects where that does not hold. */
export interface Step {
  readonly title: string
  readonly run: (rehearsal: Rehearsal) => Promise<void>
}

const WAIT = ['--wait', '--timeout=5m']
const CORE = `/api/v1/namespaces/${NAMESPACE}`
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`

/** The whole life of an installation, on any cluster. */
export const SCENARIO: readonly Step[] = [
  { title: 'the chart is installed, and both processes are ready', run: install },
  { title: 'what is active is made, as soon as there is a platform', run: complete },
  { title: 'a wrong edit is put back, and its author told the way out', run: edit },
  { title: 'what is deleted comes back', run: remove },
  {
    title: 'an upgrade and a rollback keep the certificates, and every write is judged',
    run: upgrade,
  },
  { title: 'one replica is evicted at a time, and every write is judged', run: drain },
  { title: 'an edit war moves nothing, and is told in a few events', run: fight },
  { title: 'it is uninstalled, its registration first, and the platform stays', run: uninstall },
]

async function install({ helm, values, read }: Rehearsal): Promise<void> {
  const { stdout } = await helm('install', ['--create-namespace', ...WAIT], values)
  match(stdout, /STATUS: deployed/)
  for (const name of [BASELINE.webhookAccount, BASELINE.reconcilerAccount]) {
    const { status } = await read(`${DEPLOYMENTS}/${name}`)
    equal(status.availableReplicas, 2, `${name} is available`)
  }
}

async function complete(rehearsal: Rehearsal): Promise<void> {
  if (rehearsal.isBare) await bringPlatform(rehearsal)
  await eventually('what is active is there', async () => {
    const kept = await keptObjects(rehearsal)
    const isMetrics = ({ metadata }: Loose) => SERVICE.endsWith(`/services/${metadata.name}`)
    return kept.every(isManaged) && kept.some(isMetrics)
  })
  const isJudged = async () => {
    const { status, body } = await rehearsal.patch(SERVICE, toTargetPort(1), { dryRun: 'All' })
    return status === 200 && targetPortOf(body) !== 1
  }
  // Several at once, so that each replica is asked: they learn of the platform one after the other.
  await eventually('the API server asks the webhook, and every replica judges', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, isJudged))
    return answers.every(Boolean)
  })
}

async function edit({ kubectl, shell, read }: Rehearsal): Promise<void> {
  const wanted = targetPortOf(await read(SERVICE))
  const patch = `--patch=${JSON.stringify(toTargetPort(9090))}`
  const { stderr } = await kubectl('patch', ...METRICS, '--type=json', patch)
  const [, what = '', way = ''] = /^Warning: (.*)\nWarning: To change it: (.*)$/m.exec(stderr) ?? []
  match(what, /\/spec\/ports\/0\/targetPort kept at 8080 by virt-platform-autopilot/, stderr)
  equal(targetPortOf(await read(SERVICE)), wanted)
  await shell(way)
  await eventually('what was told makes the edit legitimate', async () => {
    return targetPortOf(await read(SERVICE)) === 9090
  })
  await kubectl('annotate', ...METRICS, 'platform.kubevirt.io/patch-')
  await eventually('without it the baseline holds again', async () => {
    return targetPortOf(await read(SERVICE)) === wanted
  })
}

async function remove({ kubectl, read }: Rehearsal): Promise<void> {
  const { uid } = (await read(SERVICE)).metadata
  const { stderr } = await kubectl('delete', ...METRICS)
  match(stderr, /^Warning: /)
  const back = await eventually('it comes back', () => read(SERVICE))
  notEqual(back.metadata.uid, uid)
}

async function upgrade(rehearsal: Rehearsal): Promise<void> {
  const { helm, values, read } = rehearsal
  const certificates = async () => {
    const { items } = await read(`${CORE}/secrets?fieldSelector=type=kubernetes.io/tls`)
    return items.map(({ metadata, data }: Loose) => ({ name: metadata.name, data }))
  }
  const hasArgument = async (argument: string) => {
    const { spec } = await read(`${DEPLOYMENTS}/${BASELINE.webhookAccount}`)
    ok(spec.template.spec.containers[0].args.includes(argument), argument)
  }
  const before = await certificates()
  ok(before.length >= 2, 'the leader has made its certificates')
  // Each replaces all pods of both Deployments.
  await underWrites(rehearsal, async () => {
    await helm('upgrade', WAIT, { ...values, logLevel: 'debug' })
    await hasArgument('--log-level=debug')
    deepEqual(await certificates(), before)
    await helm('rollback', WAIT)
    await hasArgument('--log-level=info')
    deepEqual(await certificates(), before)
  })
}
