import fc from 'fast-check'
import type { Overlay } from './drawing/place.ts'

const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const always = <Value>(value: Value) => fc.constant(value)

const LABEL_VALUE = one('x', 'y')
const ADDRESS = one('192.0.2.1', '192.0.2.2', '192.0.2.3')
/** Enough that two of them are seldom the same, where no two may be. */
const NAME = one('p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9', 'p10', 'p11', 'p12')
const PORT = one(53, 80, 443, 8080)
const PERCENT = fc.oneof(one(1, 2), one('25%', '50%'))

/** What every kind's metadata takes. */
export const ANY_OBJECT: Overlay = {
  '^apiVersion': [],
  '^kind': [],
  '^status': [],
  '^metadata': ['labels', 'annotations', 'finalizers', 'ownerReferences'],
  'template.metadata': ['labels', 'annotations', 'creationTimestamp'],
  'labels{}': LABEL_VALUE,
  'matchLabels{}': LABEL_VALUE,
  'finalizers[]': one('x.io/a', 'x.io/b', 'x.io/c'),
  'ownerReferences[]': ['apiVersion!', 'kind!', 'name!', 'uid!', 'blockOwnerDeletion'],
  'ownerReferences[].apiVersion': always('v1'),
  'ownerReferences[].uid': one('u-1', 'u-2'),
}

const SELECTOR: Overlay = {
  'matchExpressions[]': one<object>(
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'In', values: ['x', 'y'] },
    { key: 'b', operator: 'In', values: ['y'] },
  ),
}

const CONTAINER = [
  'name!',
  'image!',
  'args',
  'command',
  'env',
  'envFrom',
  'ports',
  'resources',
  'imagePullPolicy',
  'terminationMessagePolicy',
  'securityContext',
  'livenessProbe',
  'volumeMounts',
]

const PODS: Overlay = {
  ...SELECTOR,
  template: ['metadata!', 'spec!'],
  'template.metadata': ['labels!', 'annotations', 'creationTimestamp'],
  'template.metadata.labels': one({ app: 'a' }, { app: 'a', l: 'x' }, { app: 'a', l: 'y', m: 'x' }),
  selector: always({ matchLabels: { app: 'a' } }),
  'template.spec': [
    'containers!',
    'initContainers',
    'volumes!',
    'tolerations',
    'nodeSelector',
    'imagePullSecrets',
    'hostAliases',
    'topologySpreadConstraints',
    'terminationGracePeriodSeconds',
    'serviceAccountName',
    'securityContext',
    'dnsConfig',
    'readinessGates',
    'schedulerName',
    'enableServiceLinks',
  ],
  'containers[]': CONTAINER,
  'containers[].name': one('a', 'b', 'c'),
  'initContainers[]': CONTAINER,
  'initContainers[].name': one('i', 'j'),
  'env[]': ['name!', 'value'],
  'envFrom[]': ['configMapRef!', 'prefix'],
  configMapRef: ['name!', 'optional'],
  'containers[].ports[]': ['containerPort!', 'protocol', 'name'],
  'initContainers[].ports[]': ['containerPort!', 'protocol', 'name'],
  'ports[].name': NAME,
  'ports[].containerPort': PORT,
  resources: ['limits', 'requests'],
  limits: ['cpu', 'memory'],
  'limits{}': fc.oneof(one('2', '2000m', '3Gi'), one(2, 3)),
  requests: ['cpu', 'memory'],
  'requests{}': fc.oneof(one('1', '500m'), one(1)),
  'containers[].securityContext': ['capabilities', 'readOnlyRootFilesystem', 'runAsUser'],
  'initContainers[].securityContext': ['capabilities', 'readOnlyRootFilesystem', 'runAsUser'],
  'template.spec.securityContext': ['fsGroup', 'runAsUser', 'supplementalGroups'],
  livenessProbe: ['httpGet!', 'periodSeconds', 'timeoutSeconds'],
  periodSeconds: one(1, 2),
  timeoutSeconds: one(1, 2),
  httpGet: ['port!', 'path', 'scheme', 'httpHeaders'],
  'httpGet.port': fc.oneof(one(80, 443), one('http', 'https')),
  'httpGet.path': one('/a', '/b'),
  'volumeMounts[]': ['mountPath!', 'name!', 'readOnly'],
  'volumeMounts[].name': always('v'),
  volumes: one(
    [{ name: 'v', emptyDir: {} }],
    [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
    [
      { name: 'v', emptyDir: { medium: 'Memory' } },
      { name: 'w', configMap: { name: 'a' } },
    ],
    [
      { name: 'v', emptyDir: { sizeLimit: '1024Mi' } },
      { name: 'w', secret: { secretName: 'a' } },
    ],
  ),
  'tolerations[]': ['key!', 'operator!', 'effect'],
  'tolerations[].key': one('a', 'x.io/b'),
  'tolerations[].operator': always('Exists'),
  'hostAliases[].ip': ADDRESS,
  'topologySpreadConstraints[]': [
    'maxSkew!',
    'topologyKey!',
    'whenUnsatisfiable!',
    'labelSelector',
  ],
  maxSkew: one(1, 2, 3),
  dnsConfig: ['nameservers', 'options', 'searches'],
  'nameservers[]': ADDRESS,
  'options[]': ['name!', 'value'],
  'readinessGates[].conditionType': one('x.io/a', 'x.io/b'),
  rollingUpdate: ['maxUnavailable!'],
  maxUnavailable: PERCENT,
  'strategy.type': always('RollingUpdate'),
  'updateStrategy.type': always('RollingUpdate'),
}

const RULE = { apiGroups: ['zz'], apiVersions: ['v1'], operations: ['CREATE'] }

const HOOKS: Overlay = {
  ...SELECTOR,
  // Nothing that is written here is sent to any of them: nobody has such resources.
  'rules[]': one({ ...RULE, resources: ['a'] }, { ...RULE, resources: ['b'], scope: 'Cluster' }),
  'webhooks[].name': one('a.x.io', 'b.x.io', 'c.x.io'),
  clientConfig: ['url!'],
  url: one('https://127.0.0.1:9/a', 'https://127.0.0.1:9/b'),
  admissionReviewVersions: always(['v1']),
  sideEffects: one('None', 'NoneOnDryRun'),
  timeoutSeconds: one(1, 5, 10),
  'matchConditions[].expression': one('true', 'false'),
}

const PEERS = one(
  { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
  { podSelector: { matchLabels: { a: 'x' } } },
  { namespaceSelector: {} },
)

/** What schemas leave to other validation, by kind. */
export const OVERLAYS: Readonly<Record<string, Overlay>> = {
  HyperConverged: {
    'featureGates[].name': NAME,
    kubeMacPoolConfiguration: ['rangeStart!', 'rangeEnd!'],
  },
  Service: {
    spec: [
      'ports!',
      'selector',
      'type',
      'sessionAffinity',
      'externalIPs',
      'publishNotReadyAddresses',
      'internalTrafficPolicy',
    ],
    // Every other type is given ports at random.
    type: always('ClusterIP'),
    'ports[]': ['port!', 'protocol', 'name!', 'targetPort', 'appProtocol'],
    'ports[].name': NAME,
    'ports[].port': PORT,
    protocol: one('TCP', 'UDP', 'SCTP'),
    appProtocol: one('http', 'x.io/b'),
    targetPort: fc.oneof(one(80, 8080), one('http', 'https')),
    'externalIPs[]': ADDRESS,
  },
  ConfigMap: { data: ['a', 'b', 'c.d'], binaryData: ['p', 'q'], immutable: [] },
  Secret: { data: ['a', 'b', 'c.d'], stringData: ['a', 'p', 'q'], immutable: [], type: [] },
  Deployment: {
    ...PODS,
    progressDeadlineSeconds: one(600, 700),
    rollingUpdate: ['maxSurge!', 'maxUnavailable'],
    maxSurge: PERCENT,
  },
  DaemonSet: PODS,
  ClusterRole: {
    ...SELECTOR,
    aggregationRule: ['clusterRoleSelectors!'],
    'rules[]': one(
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      { apiGroups: ['x.io'], resources: ['*'], verbs: ['*'], resourceNames: ['a'] },
      { nonResourceURLs: ['/healthz'], verbs: ['get'] },
    ),
  },
  ValidatingWebhookConfiguration: HOOKS,
  MutatingWebhookConfiguration: HOOKS,
  NetworkPolicy: {
    ...SELECTOR,
    'from[]': PEERS,
    'to[]': PEERS,
    'ports[]': ['protocol', 'port'],
    port: fc.oneof(one(53, 80), one('http', 'https')),
  },
  ResourceQuota: {
    spec: ['hard'],
    hard: ['pods', 'requests.cpu', 'limits.memory', 'count/configmaps'],
    'hard{}': fc.oneof(one('1', '1000', '1k', '2'), one(1, 2)),
  },
  PodDisruptionBudget: { ...SELECTOR, minAvailable: [], maxUnavailable: PERCENT },
  CSIDriver: {
    spec: ['volumeLifecycleModes', 'tokenRequests', 'seLinuxMount', 'requiresRepublish'],
    'volumeLifecycleModes[]': one('Persistent', 'Ephemeral'),
    'tokenRequests[]': ['audience!', 'expirationSeconds'],
    audience: NAME,
    expirationSeconds: one(600, 3600),
  },
  Node: {
    spec: ['taints', 'unschedulable', 'providerID'],
    'taints[]': ['key!', 'effect!', 'value'],
    providerID: always('x://a'),
  },
}
