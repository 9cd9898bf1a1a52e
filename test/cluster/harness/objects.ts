import { NAMESPACE } from './program.ts'

/** The objects of the catalog that the tests look at, as paths of the API. */
export const HCO =
  '/apis/hco.kubevirt.io/v1/namespaces/openshift-cnv/hyperconvergeds/kubevirt-hyperconverged'
/** The HyperConverged as kubectl is told of it. */
export const HYPERCONVERGED = [
  'hyperconverged',
  '-n',
  'openshift-cnv',
  'kubevirt-hyperconverged',
] as const
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

/** What is kept on the cluster of the samples, and what we keep for ourselves. */
export const OBJECTS: readonly string[] = [
  HCO,
  SWAP,
  PCI,
  KUBELET,
  HEALTH_CHECK,
  METALLB,
  STATE,
  MUTATING,
  VALIDATING,
]
