import { join } from 'node:path'
import { kindKey } from '../../../src/shared/baseline/catalog/catalog.ts'
import { groupOf } from '../../../src/shared/engine/json/object.ts'
import {
  type Definition,
  groupOf as groupOfDefinition,
  isNeeded,
  listDefinitions,
  loadDefinitions,
} from '../../../tools/control-plane/definitions.ts'
import { loadManifests, type Manifest } from '../../../tools/control-plane/manifests.ts'
import { graphDefinitions } from '../../../tools/dev/graph/system.ts'

/** What a cluster holds besides what every cluster does. */
export interface Holdings {
  /**
   * Which CustomResourceDefinitions of test/crds: by default those that the product has to do with, none if
   * false, or those that are chosen. Of a plain Kubernetes: `(one) => isNeeded(one) && one.category !== 'openshift'`.
   */
  readonly crds?: boolean | ((definition: Definition) => boolean)
  /** The objects of test/samples whose kinds there are; unless false. */
  readonly samples?: boolean
}

const CRDS = join(import.meta.dirname, '../../crds')
const SAMPLES = join(import.meta.dirname, '../../samples')

/** The definitions and samples that a cluster is to hold. */
export function manifestsOf({
  crds = true,
  samples = crds !== false,
}: Holdings): readonly Manifest[] {
  const isWanted = typeof crds === 'function' ? crds : crds ? isNeeded : () => false
  const unknown = new Set(
    listDefinitions(CRDS)
      .filter((definition) => !isWanted(definition))
      .map((definition) =>
        kindKey({ group: groupOfDefinition(definition), kind: definition.kind }),
      ),
  )
  const objects = samples ? loadManifests(SAMPLES) : []
  const isKnown = ({ apiVersion, kind }: Manifest) =>
    !unknown.has(kindKey({ group: groupOf(apiVersion), kind }))
  return [
    ...loadDefinitions(CRDS, isWanted),
    // Of the systems beside the baseline, wherever all of its own are.
    ...(crds === true ? graphDefinitions() : []),
    ...objects.filter(isKnown),
  ]
}
