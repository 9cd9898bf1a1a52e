import { ownFolder } from '../../../src/cli/assets.ts'
import { kubernetesYaml } from '../../../src/cli/render/formats.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { accounts, type Rule } from '../../../src/shared/baseline/generated/rbac.ts'
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
 * The chart's template of what the Job before an installation runs as: it may read what the reconciler reads, its
 * Secrets aside, and writes nothing.
 */
export function diffRolesFile(catalog = own()): string {
  const objects = accounts(catalog, PLACEHOLDER).filter(isReconcilers).map(asReader)
  return `{{- if .Values.preInstall.diff.enabled }}\n# ${NOTICE}\n${templated(objects)}{{- end }}\n`
}

const NAME = `${BASELINE.name}-diff`
const READ: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

// The account and its roles bear the names of the process.
const isReconcilers = ({ metadata }: KubeObject) => metadata.name === BASELINE.reconcilerAccount

interface Granting {
  readonly rules?: readonly Rule[]
  readonly roleRef?: object
  readonly subjects?: readonly object[]
}

function asReader({ apiVersion, kind, metadata, ...rest }: KubeObject): object {
  const { rules, roleRef, subjects } = rest as Granting
  const annotations = {
    'helm.sh/hook': 'pre-install',
    'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
  }
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, name: NAME, annotations },
    ...(rules && { rules: rules.flatMap(readOnly) }),
    ...(roleRef && { roleRef: { ...roleRef, name: NAME } }),
    ...(subjects && { subjects: subjects.map((subject) => ({ ...subject, name: NAME })) }),
  }
}

function readOnly(rule: Rule): readonly Rule[] {
  const verbs = rule.verbs.filter((verb) => READ.has(verb))
  return verbs.length === 0 || rule.resources.includes('secrets') ? [] : [{ ...rule, verbs }]
}
