import { Type } from '@sinclair/typebox'
import { oneOf } from '../../../src/shared/api/schema-parts.ts'
import { closed } from '../../../src/shared/baseline/catalog/schema-parts.ts'
import { LOG_LEVELS } from '../../../src/shared/ops/log.ts'
import { graphValues } from './values-graph.ts'
import {
  ANYTHING,
  extraArgs,
  flag,
  group,
  name,
  parts,
  peers,
  port,
  replicas,
  resources,
  TEXTS,
  text,
} from './values-parts.ts'

const RESOURCES =
  'At rest a process takes about 100 MB, the webhook under load 150 to 200 MB. Without a limit on the processor no verdict waits for one.'
const amounts = (memory: string) => ({ requests: { cpu: '50m', memory } })

const certificates = group({
  mode: oneOf(['own', 'cert-manager', 'service-ca'], {
    description:
      'Who makes the webhook’s certificate. own: the leader, in Secrets that this chart never renders, so that no upgrade or rollback touches them. cert-manager: a Certificate of cert-manager’s. service-ca: the service CA of OpenShift.',
    default: 'own',
  }),
  issuerRef: group(
    {
      group: text('The API group of the issuer.', 'cert-manager.io'),
      kind: text('Issuer, ClusterIssuer, or what the group has.', 'Issuer'),
      name: text('Empty: an authority is made.', '', name),
    },
    'With cert-manager: who issues the certificate. Without a name, an authority is made for it, in this namespace.',
  ),
})

const scraper = group(
  {
    namespace: text('Where it runs.', '', name),
    serviceAccount: text('As whom it runs.', '', name),
  },
  'The Prometheus that may look for our pods, where it has no such right in every namespace. On OpenShift: openshift-monitoring, prometheus-k8s, and the label openshift.io/cluster-monitoring=true on our namespace.',
)

const networkPolicy = group({
  enabled: flag('Whether only the ports that are served may be reached.', true),
  apiServers: peers(
    'Who may call the webhook; empty: anybody. Best are the addresses of the API servers: [{ipBlock: {cidr: 10.0.0.0/24}}].',
  ),
  scrapers: peers('Who may read the metrics; empty: anybody.'),
})

/** What an installation can say. Each member has a description and a default, of which values.yaml is made. */
export const valuesSchema = closed({
  disruptiveChanges: oneOf(['', 'hold', 'apply'], {
    description:
      'To be chosen. What happens to changes that reboot or drain nodes. hold: they wait, as one set, until an admin approves it. apply: they are made at once. The HyperConverged’s annotation platform.kubevirt.io/disruptive-changes goes before it.',
    default: '',
  }),
  activation: Type.Unsafe({
    description:
      'To be chosen. What happens to the platform’s objects. observe: nothing is changed or refused, what would be is reported. on: they are brought to the baseline at once, and kept there. The HyperConverged’s annotation platform.kubevirt.io/autopilot goes before it.',
    default: '',
    // `on` without quotes is a boolean to YAML.
    enum: ['', 'on', 'observe', true],
  }),
  image: group({
    repository: text('The registry, and the name in it.', 'virt-platform-autopilot', '^[^\\s@]+$'),
    tag: text('Empty: the version of the chart’s application.', '', '^[\\w][\\w.-]{0,127}$|^$'),
    digest: text('sha256:…; goes before the tag.', '', '^(sha256:[a-f0-9]{64})?$'),
    pullPolicy: oneOf(['Always', 'IfNotPresent', 'Never'], {
      description: 'When a node pulls it: a tag that moves needs Always.',
      default: 'IfNotPresent',
    }),
  }),
  imagePullSecrets: Type.Array(closed({ name: Type.String() }), {
    description: 'Secrets in our namespace by which nodes pull the image: [{name: NAME}].',
    default: [],
  }),
  certificates,
  webhook: group({
    port,
    replicas: replicas('All of them answer. With one, edits pass unjudged while its pod moves.'),
    resources: resources(RESOURCES, amounts('160Mi')),
    extraArgs: extraArgs('webhook'),
  }),
  reconciler: group({
    replicas: replicas('One leads, by a Lease; another one takes over within seconds.'),
    resources: resources(RESOURCES, amounts('128Mi')),
    extraArgs: extraArgs('reconciler'),
  }),
  hcoNamespace: text('Where the HyperConverged is, if there are several.', '', name),
  ownAssets: group(
    {
      configMap: text('Its name, in our namespace; empty: none.', '', name),
      items: Type.Array(parts({ key: Type.String(), path: Type.String(), mode: Type.Integer() }), {
        description:
          'Which file each key is: [{key: vm-clock.yaml.ejs, path: active/vm-clock.yaml.ejs}]. Empty: the one of its own name.',
        default: [],
      }),
    },
    'Assets of your own: a ConfigMap that is mounted into both processes (docs/baseline/own-assets.md). The roles that go with them, which `rbac --assets` prints, you apply yourself, before.',
  ),
  logLevel: oneOf([...LOG_LEVELS], {
    description: 'The least of what is logged; debug shows stack traces too.',
    default: 'info',
  }),
  monitoring: group({ prometheus: scraper }),
  networkPolicy,
  preInstall: group({
    diff: group({
      enabled: flag(
        'Whether a Job looks first at what would change, and fails the installation or the upgrade where nodes would reboot for it and nobody has approved that, whatever disruptiveChanges says; not while the product only observes.',
        false,
      ),
    }),
  }),
  systems: group(
    { graph: graphValues },
    'What there is beside the baseline, each with a namespace, accounts and processes of its own. Nothing is rendered of what is off.',
  ),
  podAnnotations: Type.Unsafe({
    ...TEXTS,
    description: 'Of every pod, those of Jobs too.',
    default: {},
  }),
  nodeSelector: Type.Unsafe({
    ...TEXTS,
    description: 'Labels of the nodes that every pod may run on.',
    default: {},
  }),
  tolerations: Type.Array(
    parts({
      key: Type.String(),
      operator: oneOf(['Exists', 'Equal'], {}),
      value: Type.String(),
      effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {}),
      tolerationSeconds: Type.Integer(),
    }),
    { description: 'Taints of nodes that no pod minds.', default: [] },
  ),
  affinity: parts(
    { nodeAffinity: ANYTHING, podAffinity: ANYTHING, podAntiAffinity: ANYTHING },
    { description: 'The replicas spread over nodes and zones without it.', default: {} },
  ),
  priorityClassName: text(
    'What keeps a platform’s settings shall not be the first to go from a full node.',
    'system-cluster-critical',
    name,
  ),
  // Where this chart is part of another, helm adds the one, and the other is the usual condition of such a dependency.
  global: Type.Optional(Type.Unsafe({ type: 'object' })),
  enabled: Type.Optional(Type.Boolean()),
})
