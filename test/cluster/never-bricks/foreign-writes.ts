import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'
import { ApiError, type Client } from '../../../src/shared/cluster/client.ts'
import { HCO } from '../harness/objects.ts'

/** An object of the cluster that is none of ours, and who writes it there. */
interface Foreign {
  /** Where its kind is created. */
  readonly at: string
  readonly object: {
    readonly metadata: { readonly name: string; readonly namespace?: string }
    readonly [member: string]: unknown
  }
  readonly by?: string
}

const ADMIN = 'system:masters'
const MCO = 'system:serviceaccount:openshift-machine-config-operator:machine-config-controller'
const HCO_OPERATOR = 'system:serviceaccount:openshift-cnv:hyperconverged-cluster-operator'
const CONTROLLER_MANAGER = 'system:kube-controller-manager'
const MACHINE_CONFIGS = '/apis/machineconfiguration.openshift.io/v1/machineconfigs'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const MERGE = 'application/merge-patch+json'

const CONTAINERS = [{ name: 'main', image: 'main' }]
const machineConfig = (name: string) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
  spec: { kernelArguments: ['quiet'] },
})

let signingRequest: string | undefined

// A kubelet's; the API server reads what is in it.
function certificateRequest(): string {
  const pem = { type: 'spki', format: 'pem' } as const
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: pem,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const request = forge.pki.createCertificationRequest()
  request.publicKey = forge.pki.publicKeyFromPem(publicKey)
  request.setSubject([{ name: 'commonName', value: 'somebody' }])
  request.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create())
  return btoa(forge.pki.certificationRequestToPem(request))
}

/** One object of each kind that a cluster lives by, and of those of our kinds that are not ours. */
function foreignObjects(name: string): readonly Foreign[] {
  const inDefault = { name, namespace: 'default' }
  signingRequest ??= certificateRequest()
  return [
    { at: '/api/v1/nodes', object: { metadata: { name } }, by: `system:node:${name}` },
    {
      at: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
      object: {
        metadata: { name, namespace: 'kube-system' },
        spec: { holderIdentity: name, leaseDurationSeconds: 15 },
      },
      by: CONTROLLER_MANAGER,
    },
    { at: '/api/v1/namespaces', object: { metadata: { name } } },
    {
      at: '/api/v1/namespaces/default/pods',
      object: {
        metadata: inDefault,
        // Nobody makes the default account here.
        spec: { containers: CONTAINERS, automountServiceAccountToken: false },
      },
      by: CONTROLLER_MANAGER,
    },
    {
      at: '/apis/apps/v1/namespaces/default/deployments',
      object: {
        metadata: inDefault,
        spec: {
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: { containers: CONTAINERS } },
        },
      },
    },
    {
      at: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      object: {
        metadata: { name },
        spec: {
          request: signingRequest,
          signerName: 'example.com/kubelet',
          usages: ['client auth'],
        },
      },
    },
    { at: MACHINE_CONFIGS, object: machineConfig(`99-custom-${name}`) },
    { at: MACHINE_CONFIGS, object: machineConfig(`rendered-worker-${name}`), by: MCO },
    { at: '/api/v1/namespaces/default/configmaps', object: { metadata: inDefault } },
    { at: '/api/v1/namespaces/default/secrets', object: { metadata: inDefault } },
    {
      at: '/api/v1/namespaces/default/services',
      object: { metadata: inDefault, spec: { ports: [{ port: 80 }] } },
    },
    { at: `${RBAC}/clusterroles`, object: { metadata: { name }, rules: [] } },
    {
      at: '/apis/remediation.medik8s.io/v1alpha1/nodehealthchecks',
      object: {
        apiVersion: 'remediation.medik8s.io/v1alpha1',
        kind: 'NodeHealthCheck',
        metadata: { name },
        // Of nodes that there are not: ours gives way to another of the same nodes.
        spec: {
          minHealthy: '1%',
          selector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
        },
      },
    },
  ]
}

/**
 * Creates, updates and deletes one of each that is none of ours, by those who do so in a cluster, and writes the
 * HyperConverged's status as its operator does; gives what was refused, and how long the slowest took in milliseconds.
 */
export async function writeForeign(client: Client, name: string) {
  const refused: string[] = []
  let slowestMs = 0
  const send = async (method: string, path: string, by = 'root', body?: object) => {
    const since = performance.now()
    const headers = { 'impersonate-user': by, 'impersonate-group': ADMIN }
    const contentType = method === 'PATCH' ? MERGE : 'application/json'
    await client
      .send(path, { method, headers, contentType, ...(body && { body }) })
      .catch((error) => {
        if (!(error instanceof ApiError)) throw error
        refused.push(`${method} ${path}: ${error.message}`)
      })
    slowestMs = Math.max(slowestMs, performance.now() - since)
  }
  const label = { metadata: { labels: { 'example.com/edited': 'yes' } } }
  for (const { at, object, by } of foreignObjects(name)) {
    const path = `${at}/${object.metadata.name}`
    await send('POST', at, by, object)
    await send('PATCH', path, by, label)
    await send('DELETE', path, by)
  }
  const status = { status: { observedGeneration: Math.round(performance.now()) } }
  await send('PATCH', `${HCO}/status`, HCO_OPERATOR, status)
  return { refused, slowestMs: Math.round(slowestMs) }
}

/** Makes the account without which no pod is let in, where no controller does. */
export async function makeDefaultAccount(client: Client): Promise<void> {
  const at = '/api/v1/namespaces/default/serviceaccounts'
  await client.send(at, { method: 'POST', body: { metadata: { name: 'default' } } })
}
