import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { loadOwnCatalog } from '../../src/cli/assets.ts'
import { install } from '../../src/cli/control-plane/install.ts'
import { PLATFORM_ADMINS } from '../../src/cli/control-plane/kubeconfig.ts'
import { loadManifests, type Manifest } from '../../src/cli/control-plane/manifests.ts'
import { lastLines } from '../../src/cli/control-plane/processes.ts'
import { type Autopilot, startAutopilot } from '../../src/cli/dev/autopilot.ts'
import { untilReady } from '../../src/cli/dev/readiness.ts'
import { connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../src/shared/engine/object.ts'
import {
  environment,
  type KubectlOptions,
  type Said,
  type Scope,
  type TestCluster,
  type TestClusterOptions,
  testCluster,
} from './fixture.ts'
import { until } from './until.ts'

const MANIFESTS = ['../crds', '../samples'].map((path) => join(import.meta.dirname, path))

/** Where the product lives in a test. */
export const NAMESPACE = 'autopilot-test'
/** The program as it ships: the bundle, which every run of the tests makes first. */
export const ENTRY = join(import.meta.dirname, '../../dist/main.js')

/** The objects of the catalog that the tests look at, as paths of the API. */
export const HCO =
  '/apis/hco.kubevirt.io/v1/namespaces/openshift-cnv/hyperconvergeds/kubevirt-hyperconverged'
const MCO = '/apis/machineconfiguration.openshift.io/v1'
export const SWAP = `${MCO}/machineconfigs/90-worker-swap-online`
export const PCI = `${MCO}/machineconfigs/50-virt-pci-passthrough`
export const KUBELET = `${MCO}/kubeletconfigs/virt-perf-settings`
export const HEALTH_CHECK =
  '/apis/remediation.medik8s.io/v1alpha1/nodehealthchecks/virt-node-health-check'
export const METALLB = '/apis/metallb.io/v1beta1/namespaces/metallb-system/metallbs/metallb'
export const DESCHEDULER =
  '/apis/operator.openshift.io/v1/namespaces/openshift-kube-descheduler-operator/kubedeschedulers/cluster'
export const STATE = `/api/v1/namespaces/${NAMESPACE}/configmaps/virt-platform-autopilot-state`
const REGISTRATIONS = '/apis/admissionregistration.k8s.io/v1'
export const MUTATING = `${REGISTRATIONS}/mutatingwebhookconfigurations/virt-platform-autopilot`
export const VALIDATING = `${REGISTRATIONS}/validatingwebhookconfigurations/virt-platform-autopilot`

/** How the product is started for the tests of one file. */
export interface AutopilotClusterOptions extends TestClusterOptions {
  readonly webhookFlags?: readonly string[]
  readonly reconcilerFlags?: readonly string[]
  /** Settles when both processes run; by default only when every object is at its baseline. */
  readonly isEarly?: boolean
  /** Which of the definitions and samples are there from the start; by default all. */
  readonly only?: (manifest: Manifest) => boolean
}

/** An object as it is read back, loosely typed: tests reach deep into it. */
// biome-ignore lint/suspicious/noExplicitAny: what is read is compared at once, a wrong path fails the test
export type Loose = any

/** An event, as far as tests look at it. */
export interface SeenEvent {
  readonly reason: string
  readonly note: string
  readonly regarding: { readonly kind: string; readonly name: string }
}

/** A kubectl, or a shell that has one on its path, in the hands of one person. */
export interface Person {
  (args: readonly string[], options?: Omit<KubectlOptions, 'user'>): Promise<Said>
  /** Runs a command line as a person pastes it. */
  readonly shell: (line: string, input?: string) => Promise<Said>
}

/** A cluster with both processes at work on it. */
export interface AutopilotCluster extends TestCluster {
  readonly autopilot: Autopilot
  /** Somebody of the group that administrates the platform. */
  person(name: string): Person
  /** Reads an object; undefined where there is none. */
  read(path: string): Promise<Loose>
  /** The sum of all series of a metric whose labels contain a text. */
  metric(of: 'webhook' | 'reconciler', name: string, labels?: string): Promise<number>
  /** How many writes the webhook has judged so far. */
  judged(): Promise<number>
  /** How often the API server has asked the webhook so far, by its own count. */
  asked(): Promise<number>
  /** Waits until the reconciler compared this object of the catalog twice more. */
  untilCompared(name: string): Promise<void>
  /** Waits for an event, and gives all of its kind. */
  untilEvent(reason: string, note: RegExp): Promise<SeenEvent>
  events(reason: string): Promise<readonly SeenEvent[]>
  /** The log of a process, from its first start on. */
  log(of: 'webhook' | 'reconciler'): string
  /** Installs these of the definitions and samples. */
  install(which: (manifest: Manifest) => boolean): Promise<void>
  /** Kills the webhook, as a machine that fails would, does something, and starts it again. */
  withoutWebhook<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Starts a cluster and the product on it, under its own ServiceAccounts; both end with the test. */
export async function autopilotCluster(
  t: Scope,
  {
    webhookFlags = [],
    reconcilerFlags = [],
    isEarly = false,
    only,
    ...rest
  }: AutopilotClusterOptions = {},
): Promise<AutopilotCluster> {
  const cluster = await testCluster(t, only ? { ...rest, crds: false } : rest)
  const installSome = (which: (manifest: Manifest) => boolean) =>
    install(cluster, MANIFESTS.flatMap(loadManifests).filter(which))
  if (only) await installSome(only)
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  const folder = join(cluster.dataDir, 'autopilot')
  const autopilot = await startAutopilot({
    client,
    kubeconfig,
    catalog: loadOwnCatalog(),
    namespace: NAMESPACE,
    folder,
    webhookHost: '127.0.0.1',
    entry: ENTRY,
    env: { PATH: environment().PATH ?? '' },
    webhookFlags,
    reconcilerFlags: ['--disruptive-changes=apply', ...reconcilerFlags],
  })
  t.teardown(async () => {
    for (const child of [autopilot.webhook.child(), autopilot.reconciler.child()])
      if (!child.isRunning())
        t.comment(`the ${child.name} ended by itself:\n${lastLines(child.output(), 20)}`)
    await autopilot.stop()
    await client.close()
  })
  const read = createRead(cluster)
  if (!isEarly) await untilReady(autopilot, client, (await read(HCO)) as KubeObject)
  return Object.assign(cluster, {
    autopilot,
    read,
    person: (name: string) => createPerson(cluster, name),
    ...createMetrics(autopilot),
    async asked() {
      const { body } = await cluster.admin<string>('GET', '/metrics')
      return sumOf(body, 'apiserver_admission_webhook_request_total', '.platform.kubevirt.io"')
    },
    ...createEvents(cluster),
    install: installSome,
    log: (of: 'webhook' | 'reconciler') => readFileSync(join(folder, `${of}.log`), 'utf8'),
    async withoutWebhook<Result>(work: () => Promise<Result>) {
      await autopilot.webhook.child().kill()
      const result = await work()
      autopilot.webhook.start()
      await until('the webhook is ready again', () => isReady(autopilot.opsPorts.webhook))
      return result
    },
  })
}

/** Whether a process says that it is ready. */
export const isReady = (opsPort: number) =>
  fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

const createRead = (cluster: TestCluster) => async (path: string) => {
  const { status, body } = await cluster.admin('GET', path)
  return status === 404 ? undefined : body
}

function createPerson(cluster: TestCluster, name: string): Person {
  const user = { name, groups: [PLATFORM_ADMINS] }
  const kubectl = (args: readonly string[], options: Omit<KubectlOptions, 'user'> = {}) =>
    cluster.kubectl(args, { ...options, user })
  return Object.assign(kubectl, {
    async shell(line: string, input = '') {
      const child = spawn('/bin/sh', ['-c', line], {
        cwd: join(cluster.dataDir, 'home'),
        env: {
          PATH: `${dirname(cluster.binaries.kubectl)}:${environment().PATH}`,
          HOME: join(cluster.dataDir, 'home'),
          KUBECONFIG: cluster.kubeconfigFor(user),
        },
      })
      child.stdin.end(input)
      const closed = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      const [code] = await closed
      return { code, stdout, stderr }
    },
  })
}

/** The sum of all series of a metric whose labels contain a text. */
export function sumOf(metrics: string, name: string, labels = ''): number {
  const isWanted = (line: string) =>
    (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels)
  const values = metrics.split('\n').filter(isWanted)
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

function createMetrics({ opsPorts }: Autopilot) {
  const metric = async (of: 'webhook' | 'reconciler', name: string, labels = '') => {
    const reply = await fetch(`http://127.0.0.1:${opsPorts[of]}/metrics`)
    return sumOf(await reply.text(), name, labels)
  }
  const compared = (name: string) =>
    metric('reconciler', 'virt_platform_reconcile_duration_seconds_count', `name="${name}"`)
  return {
    metric,
    judged: () => metric('webhook', 'virt_platform_admission_requests_total'),
    async untilCompared(name: string) {
      const before = await compared(name)
      await until(`${name} is compared again`, async () => (await compared(name)) >= before + 2)
    },
  }
}

function createEvents(cluster: TestCluster) {
  const events = async (reason: string) => {
    const { body } = await cluster.admin<{ items: SeenEvent[] }>(
      'GET',
      '/apis/events.k8s.io/v1/events',
    )
    return body.items.filter((event) => event.reason === reason)
  }
  return {
    events,
    untilEvent: (reason: string, note: RegExp) =>
      until(`event ${reason} with ${note}`, async () =>
        (await events(reason)).find((event) => note.test(event.note)),
      ),
  }
}
