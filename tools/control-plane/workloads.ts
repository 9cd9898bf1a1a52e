import { writeFileSync } from 'node:fs'
import type { Components } from './components.ts'
import { freePort, serve } from './ports.ts'
import { send } from './request.ts'

/** What plays the nodes of a cluster that has none, so that what is scheduled to them runs as far as the API server can see. */
export interface WorkloadsOptions {
  readonly scheduler: string
  readonly kwok: string
  readonly kubeconfig: string
  /** Where the stages of nodes and pods are written. */
  readonly stages: string
  /** The address that each pod is said to have: of this machine, if the API server is to reach what listens there. */
  readonly podAddress: string
  /** Namespaces whose pods somebody else runs. */
  readonly except?: readonly string[]
}

/**
 * Starts kube-scheduler, and KWOK for all nodes: a pod that is scheduled is ready at once, one of a Job completes, and one that is
 * deleted goes. No container runs.
 */
export async function startWorkloads(components: Components, options: WorkloadsOptions) {
  const { scheduler, kwok, kubeconfig, stages } = options
  writeFileSync(
    stages,
    stagesFor(options)
      .map((stage) => JSON.stringify(stage))
      .join('\n---\n'),
  )
  const flags = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0']
  components.watch(components.start('kube-scheduler', scheduler, flags))
  const { process } = await serve({
    ports: freePort,
    start: (port) =>
      components.start('kwok', kwok, [
        `--kubeconfig=${kubeconfig}`,
        `--config=${stages}`,
        '--manage-all-nodes=true',
        '--node-lease-duration-seconds=40',
        `--server-address=127.0.0.1:${port}`,
      ]),
    isReady: async (port) =>
      (await send(`http://127.0.0.1:${port}/healthz`, { timeoutMs: 5_000 })).status === 200,
  })
  components.watch(process)
}

interface Requirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

// https://kwok.sigs.k8s.io/docs/user/stages-configuration/
const stage = (
  name: string,
  kind: string,
  matchExpressions: readonly Requirement[],
  next: object,
) => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, next },
})

const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
const NOT_READY: Requirement = { key: READY, operator: 'NotIn', values: ['True'] }
const DELETED = '.metadata.deletionTimestamp'
const STAYS: Requirement = { key: DELETED, operator: 'DoesNotExist' }
const OF_JOB: Requirement = {
  key: '.metadata.ownerReferences.[].kind',
  operator: 'In',
  values: ['Job'],
}

function stagesFor({ podAddress, except = [''] }: WorkloadsOptions) {
  const played: Requirement = { key: '.metadata.namespace', operator: 'NotIn', values: except }
  const conditions = (...types: readonly string[]) =>
    types.map((type) => `- {type: ${type}, status: "True", lastTransitionTime: {{ Now | Quote }}}`)
  const containers = (state: string, ready: boolean) => [
    'containerStatuses:',
    '{{ range .spec.containers }}',
    '- name: {{ .name | Quote }}',
    '  image: {{ .image | Quote }}',
    '  restartCount: 0',
    `  ready: ${ready}`,
    `  state: ${state}`,
    '{{ end }}',
  ]
  const template = (...lines: readonly string[]) => ({ statusTemplate: lines.join('\n') })
  const running = '{running: {startedAt: {{ Now | Quote }}}}'
  const ended =
    '{terminated: {exitCode: 0, reason: Completed, startedAt: {{ Now | Quote }}, finishedAt: {{ Now | Quote }}}}'
  return [
    stage('node-ready', 'Node', [NOT_READY], template('conditions:', ...conditions('Ready'))),
    stage(
      'pod-ready',
      'Pod',
      [played, STAYS, NOT_READY, { key: '.status.phase', operator: 'In', values: ['Pending'] }],
      template(
        'phase: Running',
        'startTime: {{ Now | Quote }}',
        `podIP: "${podAddress}"`,
        `podIPs: [{ip: "${podAddress}"}]`,
        'conditions:',
        ...conditions('Initialized', 'Ready', 'ContainersReady'),
        ...containers(running, true),
      ),
    ),
    stage(
      'pod-complete',
      'Pod',
      [played, STAYS, OF_JOB, { key: '.status.phase', operator: 'In', values: ['Running'] }],
      template('phase: Succeeded', ...containers(ended, false)),
    ),
    stage('pod-gone', 'Pod', [played, { key: DELETED, operator: 'Exists' }], { delete: true }),
  ]
}
