import {
  apiVersionOf,
  type Catalog,
  isHyperConverged,
} from '../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../shared/baseline/facts/facts.ts'
import { groupOf, type KubeObject, titleOf } from '../../shared/engine/json/object.ts'

export interface HyperConvergedChoice {
  /** Where the objects are from, for messages. */
  readonly file: string
  readonly objects: readonly KubeObject[]
  /** Which of several; and where one without a namespace is. */
  readonly namespace: string | undefined
}

/** Where the platform's operator puts it. */
const USUAL_NAMESPACE = 'openshift-cnv'

/** A HyperConverged in which nobody has set anything. */
export function plainHyperConverged(catalog: Catalog, namespace = USUAL_NAMESPACE): KubeObject {
  const { group, versions, kind, name } = identityIn(catalog)
  const apiVersion = apiVersionOf(group, versions[0] ?? '')
  return { apiVersion, kind, metadata: { name, namespace }, spec: {} }
}

/** The one HyperConverged among some objects; throws an Error that says what is wrong with them, and the way out. */
export function chooseHyperConverged(catalog: Catalog, choice: HyperConvergedChoice): KubeObject {
  const { file, objects } = choice
  const stranger = objects.find(({ apiVersion, kind }) => {
    const source = FACT_SOURCES.hco
    return groupOf(apiVersion) !== source.group || kind !== source.kind
  })
  if (stranger)
    throw new Error(
      `--hco ${file}: ${titleOf(stranger)} is no HyperConverged: give what else facts are read from with --nodes`,
    )
  const placed = objects.map((object) => withNamespace(object, choice))
  const [found, ...others] = placed.filter(
    ({ metadata }) => choice.namespace === undefined || metadata.namespace === choice.namespace,
  )
  if (!found) throw new Error(`--hco ${file} holds no HyperConverged${inNamespace(choice)}`)
  if (others.length > 0) {
    const names = [found, ...others].map(titleOf).join(' and ')
    throw new Error(`--hco ${file} holds ${names}: choose with --hco-namespace`)
  }
  return understood(catalog, file, found)
}

const identityIn = (catalog: Catalog) => {
  const asset = catalog.find(isHyperConverged)
  if (!asset) throw new Error('the catalog has no HyperConverged')
  return asset.object
}

const withNamespace = (object: KubeObject, { namespace }: HyperConvergedChoice): KubeObject => ({
  ...object,
  metadata: { namespace: namespace ?? USUAL_NAMESPACE, ...object.metadata },
})

const inNamespace = ({ namespace }: HyperConvergedChoice) =>
  namespace === undefined ? '' : ` in namespace ${namespace} (--hco-namespace)`

// The product follows one of this name only, and reads no other version.
function understood(catalog: Catalog, file: string, found: KubeObject): KubeObject {
  const { group, versions, name } = identityIn(catalog)
  if (found.metadata.name !== name)
    throw new Error(`--hco ${file}: ${titleOf(found)} must be named ${name}`)
  const known = versions.map((version) => apiVersionOf(group, version))
  if (!known.includes(found.apiVersion))
    throw new Error(
      `--hco ${file}: ${titleOf(found)} is of version ${found.apiVersion}: write it as ${known.join(' or ')}`,
    )
  return found
}
