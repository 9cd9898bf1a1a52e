import type { Resource } from '../../shared/cluster/resource.ts'

/** The two kinds of webhook configurations, and where they are found. */
export const CONFIGURATION_KINDS = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
] as const
export type ConfigurationKind = (typeof CONFIGURATION_KINDS)[number]

export const configurationAt = (kind: ConfigurationKind): Resource => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  resource: `${kind.toLowerCase()}s`,
})
