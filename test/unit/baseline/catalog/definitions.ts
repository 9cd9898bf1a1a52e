import { fileURLToPath } from 'node:url'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { loadDefinitions } from '../../../../tools/control-plane/definitions.ts'
import { loadManifests } from '../../../../tools/control-plane/manifests.ts'
import { validatorOf } from './closed-schema.ts'

export interface Crd {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: { readonly properties: object } }
    }[]
  }
}

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

// Those of newer operators first.
const crds = [
  ...loadManifests(folder('clusters/definitions')),
  ...loadDefinitions(folder('crds')),
] as readonly Crd[]

/** The newest definition of a kind that we have; undefined for a kind of the API server itself. */
export const crdOf = (group: string, kind: string): Crd | undefined =>
  crds.find(({ spec }) => spec.group === group && spec.names.kind === kind)

/** What a definition does not admit of an object: the newest of its kind, or another. */
export function faultsOf(object: KubeObject, definition?: Crd): readonly string[] {
  const [group = '', version = ''] = object.apiVersion.split('/')
  const crd = definition ?? crdOf(group, object.kind)
  if (!crd) return [`test/crds has no ${object.kind}.${group}`]
  const found = crd.spec.versions.find(({ name }) => name === version)
  if (!found) return [`${object.kind} has no version ${version}`]
  const validate = validators.get(found) ?? validatorFor(found)
  validators.set(found, validate)
  return validate(object)
}

type Version = Crd['spec']['versions'][number]

const validators = new Map<Version, ReturnType<typeof validatorOf>>()

const validatorFor = ({ schema }: Version) =>
  validatorOf({
    type: 'object',
    required: ['spec'],
    properties: { ...schema.openAPIV3Schema.properties, metadata: {} },
  })
