import { HEALTH_CHECK, METALLB } from '../harness/objects.ts'

export const CHECKS = HEALTH_CHECK.slice(0, HEALTH_CHECK.lastIndexOf('/'))
export const METALLBS = METALLB.slice(0, METALLB.lastIndexOf('/'))
export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const APPLY = 'application/apply-patch+yaml'

export const check = (metadata: object | undefined) => ({
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  ...(metadata && { metadata }),
  spec: { minHealthy: '51%', selector: { matchLabels: { a: 'b' } } },
})
export const metallb = (metadata: object) => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'MetalLB',
  metadata,
  spec: {},
})
/** A person's request, so that only the condition on the object tells one from another. */
export interface Case {
  readonly says: string
  readonly ask: readonly [method: string, path: string, body?: object, type?: string]
  readonly isOurs: boolean
  /** The object is being deleted: with failure policy Fail it is left alone. */
  readonly isEnding?: true
  /** There is nothing in it for the entry that sees a write last. */
  readonly isUnchanged?: true
}

export const NAME = 'virt-node-health-check'
export const ON_ABSENT: readonly Case[] = [
  { says: 'a create', ask: ['POST', CHECKS, check({ name: NAME })], isOurs: true },
  { says: 'another’s create', ask: ['POST', CHECKS, check({ name: 'x' })], isOurs: false },
  {
    says: 'a create with a generated name that begins as ours',
    ask: ['POST', CHECKS, check({ generateName: NAME })],
    isOurs: false,
  },
  {
    says: 'a create with our name and a generated one',
    ask: ['POST', CHECKS, check({ name: NAME, generateName: 'x-' })],
    isOurs: true,
  },
  {
    says: 'a create with null for all that metadata may hold',
    ask: ['POST', CHECKS, check({ name: NAME, labels: null, annotations: null, finalizers: null })],
    isOurs: true,
  },
  {
    says: 'an apply of what is not there',
    ask: ['PATCH', `${HEALTH_CHECK}?fieldManager=x`, check({ name: NAME }), APPLY],
    isOurs: true,
  },
  {
    says: 'a create in a namespace',
    ask: ['POST', METALLBS, metallb({ name: 'metallb' })],
    isOurs: true,
  },
  {
    says: 'a create of our name in another namespace',
    ask: [
      'POST',
      METALLBS.replace('metallb-system', 'default'),
      metallb({ name: 'metallb', namespace: 'default' }),
    ],
    isOurs: false,
  },
]

const removed = (path: string) => [{ op: 'remove', path }]
export const ON_PRESENT: readonly Case[] = [
  {
    says: 'an update of an object without labels and annotations',
    ask: ['PATCH', HEALTH_CHECK, { spec: { minHealthy: '1%' } }, MERGE],
    isOurs: true,
  },
  {
    says: 'an update that takes a field away',
    ask: ['PATCH', HEALTH_CHECK, removed('/spec/minHealthy'), JSON_PATCH],
    isOurs: true,
  },
  { says: 'a delete', ask: ['DELETE', HEALTH_CHECK], isOurs: true },
  { says: 'a delete of the collection', ask: ['DELETE', CHECKS], isOurs: true },
  {
    says: 'a delete of what a selector finds',
    ask: ['DELETE', `${CHECKS}?fieldSelector=metadata.name%3D${NAME}`],
    isOurs: true,
  },
  { says: 'a delete of another’s', ask: ['DELETE', `${CHECKS}/another`], isOurs: false },
  {
    says: 'a delete of another’s by a selector',
    ask: ['DELETE', `${CHECKS}?fieldSelector=metadata.name%3Danother`],
    isOurs: false,
  },
]
export const ON_ENDING: readonly Case[] = [
  {
    says: 'an edit of what is being deleted',
    ask: ['PATCH', HEALTH_CHECK, { spec: { minHealthy: '1%' } }, MERGE],
    isOurs: true,
    isEnding: true,
  },
  { says: 'another delete of it', ask: ['DELETE', HEALTH_CHECK], isOurs: true, isEnding: true },
  {
    says: 'the end of its last finalizer',
    ask: ['PATCH', HEALTH_CHECK, { metadata: { finalizers: null } }, MERGE],
    isOurs: true,
    isEnding: true,
    isUnchanged: true,
  },
]
