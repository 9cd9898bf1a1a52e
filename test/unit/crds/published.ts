import { createHash } from 'node:crypto'
import type { Format, Lock, Published } from '../../../tools/crds/lock.ts'

/** A lock with one source. */
export const lockWith = (...definitions: Lock['definitions']): Lock => ({
  generator: { module: 'example.com/tools', version: 'v0.1.0' },
  sources: [{ module: 'example.com/sorts', version: 'v1.2.3', licence: 'Apache-2.0' }],
  definitions,
  absent: [],
})

/** An entry of a lock for a file with this content. */
export const published = (
  content: string | Uint8Array,
  format: Format = { format: 'yaml' },
  more: Partial<Published> = {},
): Published => ({
  name: 'sorts.example.com',
  kind: 'Sort',
  category: 'operators',
  tier: 'other',
  served: ['v1', 'v1beta1'],
  storage: 'v1',
  source: 'example.com/sorts',
  path: 'crds/sorts.yaml',
  sha256: createHash('sha256').update(content).digest('hex'),
  ...format,
  ...(more as object),
})

/** The definition that the entry is for, in YAML. */
export const SORTS = `\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: sorts.example.com
spec:
  group: example.com
  names: {kind: Sort, plural: sorts}
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, description: prose}}
    - name: v1beta1
      served: true
      storage: false
      schema: {openAPIV3Schema: {type: object}}
    - name: v1alpha1
      served: false
      storage: false
      schema: {openAPIV3Schema: {type: object}}
`
