import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'

// What the rehearsal edits and deletes: an object of the catalog that is in our own namespace, so that nobody's platform suffers.
const NAME = 'virt-platform-autopilot-metrics'
export const SERVICE = `/api/v1/namespaces/${NAMESPACE}/services/${NAME}`
/** The Service as kubectl is told of it. */
export const METRICS = ['service', '-n', NAMESPACE, NAME] as const

/** The managed field that is edited. */
export const targetPortOf = ({ spec }: Loose): unknown => spec.ports[0].targetPort

/** An edit of it. */
export const toTargetPort = (value: number) => [
  { op: 'replace', path: '/spec/ports/0/targetPort', value },
]

/** The edit as somebody who applies the whole Service makes it. */
export const withTargetPort = (targetPort: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: NAME, namespace: NAMESPACE },
  spec: { ports: [{ name: 'metrics', port: 8080, protocol: 'TCP', targetPort }] },
})
