import { ownFolder } from '../../../src/cli/assets.ts'
import { kubernetesYaml } from '../../../src/cli/render/formats.ts'
import {
  CONFIGURATION_KINDS,
  configurationsAt,
} from '../../../src/reconciler/admission/webhook-configurations.ts'
import { clusterRoleFor, type Rule } from '../../../src/shared/api/roles.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { DIFF_ACCOUNT } from '../../../src/shared/baseline/generated/own-asset-roles.ts'
import { accounts, readOnly } from '../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { NOTICE } from '../notice.ts'

// Stands for the release's own while the roles are made: a name that nothing else has, and that sorts behind all others.
const PLACEHOLDER = 'zz-release-namespace'
// A namespace that looks like a number is a text all the same.
const EXPRESSION = '{{ .Release.Namespace | quote }}'

const own = (): Catalog => loadCatalog({ folders: [ownFolder()], namespace: PLACEHOLDER })

const templated = (objects: readonly object[]) =>
  objects.map(kubernetesYaml).join('---\n').replaceAll(PLACEHOLDER, EXPRESSION)

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
export function unregisterRolesFile(): string {
  const name = `${BASELINE.name}-unregister`
  const at = { account: name, namespace: PLACEHOLDER }
  const rule = {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: CONFIGURATION_KINDS.map((kind) => configurationsAt(kind).resource),
    resourceNames: [BASELINE.webhookConfiguration],
    verbs: ['delete'],
  }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount' }
  const objects = [
    { ...account, metadata: { name, namespace: PLACEHOLDER } },
    ...clusterRoleFor(at, name, [rule]),
  ]
  return `# ${NOTICE}\n${templated(objects.map(hookAt('pre-delete')))}`
}

// The account and its roles bear the names of the process.
const isReconcilers = ({ metadata }: KubeObject) => metadata.name === BASELINE.reconcilerAccount

/** The object as a hook of helm's: made before its Job, and gone with it. */
const hookAt =
  (events: string) =>
  ({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject => {
    const annotations = {
      'helm.sh/hook': events,
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    }
    return { apiVersion, kind, metadata: { ...metadata, annotations }, ...rest }
  }

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
