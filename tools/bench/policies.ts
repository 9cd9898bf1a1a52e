import type { Manifest } from '../control-plane/manifests.ts'

const API = 'admissionregistration.k8s.io/v1'
const NAME = 'bench-no-post-copy'
const FIELD =
  'object.spec.?virtualization.?liveMigrationConfig.?allowPostCopy.orValue(false) == false'
const CORRECTION =
  'Object{spec: Object.spec{virtualization: Object.spec.virtualization{liveMigrationConfig: Object.spec.virtualization.liveMigrationConfig{allowPostCopy: false}}}}'

/**
 * Policies that the API server runs by itself, for one namespace: they put the field back that the edit of the
 * HyperConverged moves, and then look whether it is there. As many as the webhook has entries.
 */
export const policiesFor = (namespace: string): readonly Manifest[] => {
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [
      {
        apiGroups: ['hco.kubevirt.io'],
        apiVersions: ['v1'],
        resources: ['hyperconvergeds'],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
  }
  const common = { failurePolicy: 'Fail', matchConstraints }
  return [
    object('MutatingAdmissionPolicy', {
      ...common,
      reinvocationPolicy: 'IfNeeded',
      matchConditions: [{ name: 'moved', expression: `!(${FIELD})` }],
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: CORRECTION } },
      ],
    }),
    object('MutatingAdmissionPolicyBinding', { policyName: NAME }),
    object('ValidatingAdmissionPolicy', { ...common, validations: [{ expression: FIELD }] }),
    object('ValidatingAdmissionPolicyBinding', { policyName: NAME, validationActions: ['Deny'] }),
  ]
}

const object = (kind: string, spec: object): Manifest => ({
  apiVersion: API,
  kind,
  metadata: { name: NAME },
  spec,
})
