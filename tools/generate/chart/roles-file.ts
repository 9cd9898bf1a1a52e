import { ownFolder } from '../../../src/cli/assets.ts'
import {
  CONFIGURATION_KINDS,
  configurationsAt,
} from '../../../src/reconciler/admission/webhook-configurations.ts'
import { clusterRoleFor, type Rule, rule } from '../../../src/shared/api/roles.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { DIFF_ACCOUNT } from '../../../src/shared/baseline/generated/own-asset-roles.ts'
import { accounts, readOnly } from '../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import type { Identity } from '../../../src/shared/engine/identity.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { NOTICE } from '../notice.ts'
import { hookAt, RELEASE, templated } from './templated.ts'

const PLACEHOLDER = RELEASE.placeholder
const own = (): Catalog => loadCatalog({ folders: [ownFolder()], namespace: PLACEHOLDER })

/** The chart's template of the roles: what `rbac` prints, in the namespace of the release. */
export const rolesFile = (catalog = own()) =>
  `# ${NOTICE}\n${templated(accounts(catalog, PLACEHOLDER))}`

/**
 * The chart's template of what the Job before an installation or an upgrade runs as: it may read what the reconciler reads, its
 * Secrets aside, and writes nothing.
 */
export function diffRolesFile(catalog = own()): string {
  const objects = accounts(catalog, PLACEHOLDER)
    .filter(isReconcilers)
    .map(asReader)
    .map(hookAt('pre-install,pre-upgrade'))
  return `{{- if .Values.preInstall.diff.enabled }}\n# ${NOTICE}\n${templated(objects)}{{- end }}\n`
}

/**
 * The chart's template of what the Job before the end runs as: whatever became of the installation, the account is there then, and
 * may do what `unregister` does.
 */
export const unregisterRolesFile = () =>
  `# ${NOTICE}\n${templated(unregisterAccount(BASELINE, RELEASE.placeholder, []).map(hookAt('pre-delete')))}`

/** What removes a system's registration, and may do besides what these rules say. */
export function unregisterAccount(
  { name: system, webhookConfiguration }: Identity,
  namespace: string,
  rules: readonly Rule[],
): readonly KubeObject[] {
  const name = `${system}-unregister`
  const resources = CONFIGURATION_KINDS.map((kind) => configurationsAt(kind).resource)
  const registration = rule(
    'admissionregistration.k8s.io',
    resources,
    ['delete'],
    [webhookConfiguration],
  )
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    ...clusterRoleFor({ account: name, namespace }, name, [registration, ...rules]),
  ]
}

// The account and its roles bear the names of the process.
const isReconcilers = ({ metadata }: KubeObject) => metadata.name === BASELINE.reconcilerAccount

interface Granting {
  readonly rules?: readonly Rule[]
  readonly roleRef?: object
  readonly subjects?: readonly object[]
}

function asReader({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { rules, roleRef, subjects } = rest as Granting
  const name = DIFF_ACCOUNT
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, name },
    ...(rules && { rules: readOnly(rules.filter(isNotOfSecrets)) }),
    ...(roleRef && { roleRef: { ...roleRef, name } }),
    ...(subjects && { subjects: subjects.map((subject) => ({ ...subject, name })) }),
  }
}

const isNotOfSecrets = ({ resources }: Rule) => !resources.includes('secrets')
