import type { Values } from './helm.ts'

/** The two choices that everybody has to make. */
export const CHOSEN = { disruptiveChanges: 'hold', activation: 'observe' } as const

const OPENSHIFT = {
  certificates: { mode: 'service-ca' },
  monitoring: {
    prometheus: { namespace: 'openshift-monitoring', serviceAccount: 'prometheus-k8s' },
  },
  networkPolicy: {
    apiServers: [
      {
        namespaceSelector: {
          matchLabels: { 'policy-group.network.openshift.io/host-network': '' },
        },
      },
    ],
    scrapers: [
      {
        namespaceSelector: {
          matchLabels: { 'kubernetes.io/metadata.name': 'openshift-monitoring' },
        },
      },
    ],
  },
}

const EVERYTHING = {
  disruptiveChanges: 'apply',
  activation: 'on',
  image: { repository: 'example.com/autopilot', tag: 'v1', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  webhook: {
    replicas: 3,
    resources: { requests: { cpu: 1, memory: '1Gi' }, limits: { memory: '2Gi' } },
    extraArgs: ['--enforcement=deny'],
  },
  reconciler: { replicas: 1, extraArgs: ['--resync=10m', '--failure-policy=Fail'] },
  hcoNamespace: 'kubevirt-hyperconverged',
  ownAssets: { configMap: 'own-assets', items: [{ key: 'a', path: 'active/a' }] },
  logLevel: 'debug',
  preInstall: { diff: { enabled: true } },
  podAnnotations: { 'example.com/scrape': 'no' },
  nodeSelector: { 'node-role.kubernetes.io/infra': '' },
  tolerations: [{ key: 'node-role.kubernetes.io/infra', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
  priorityClassName: '',
}

const ISSUER = { group: 'cert-manager.io', kind: 'ClusterIssuer', name: 'company' }

const GRAPH = { enabled: true, enroll: ['shop'] }

const EVERYTHING_OF_GRAPH = {
  ...GRAPH,
  namespace: 'graphs',
  createNamespace: false,
  image: { repository: 'example.com/graph', tag: 'v2' },
  webhook: { port: 8443, replicas: 1, extraArgs: ['--client-ca=/etc/authorities'] },
  reconciler: {
    replicas: 1,
    resources: { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } },
  },
  failurePolicy: 'Fail',
  enroll: ['shop', '42'],
}

/** Installations that must work, by what is particular about them. */
export const INSTALLATIONS: Readonly<Record<string, Values>> = {
  'the default': {},
  'on Kubernetes with cert-manager': { certificates: { mode: 'cert-manager' } },
  'with an issuer of the company’s': {
    certificates: { mode: 'cert-manager', issuerRef: ISSUER },
    networkPolicy: { apiServers: [{ ipBlock: { cidr: '10.0.0.0/24' } }] },
  },
  'on OpenShift': OPENSHIFT,
  'with a replica of each': { webhook: { replicas: 1 }, reconciler: { replicas: 1 } },
  'without network policies': { networkPolicy: { enabled: false } },
  'by digest': { image: { digest: `sha256:${'0'.repeat(64)}` } },
  'with a look before it': { preInstall: { diff: { enabled: true } } },
  'with everything said': EVERYTHING,
  'with graphs': { systems: { graph: GRAPH } },
  'with graphs, on Kubernetes with cert-manager': {
    certificates: { mode: 'cert-manager' },
    systems: { graph: GRAPH },
  },
  'with everything said of graphs, on OpenShift': {
    ...OPENSHIFT,
    systems: { graph: EVERYTHING_OF_GRAPH },
  },
  'with everything said, on OpenShift': { ...EVERYTHING, ...OPENSHIFT },
}
