import { HEALTH_CHECK } from '../harness/objects.ts'
import { NAMESPACE } from '../harness/program.ts'
import { APPLY, type Case, check, MERGE, NAME } from './match-cases.ts'

export const NAMESPACES = '/api/v1/namespaces'
export const SERVICES = `${NAMESPACES}/${NAMESPACE}/services`
export const SERVICE = `${SERVICES}/virt-platform-autopilot-metrics`

export const metadataOf = (says: string, metadata: object, path = HEALTH_CHECK): Case => ({
  says,
  ask: ['PATCH', path, { metadata }, MERGE],
  isOurs: true,
})
const unchanged = (one: Case): Case => ({ ...one, isUnchanged: true })
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'x' }
const SPEC_EDIT: Case = {
  says: 'another value in its spec',
  ask: ['PATCH', HEALTH_CHECK, { spec: { minHealthy: '1%' } }, MERGE],
  isOurs: true,
}
/** What metadata may be changed of every kind. */
export const ON_METADATA = (path: string): readonly Case[] => [
  metadataOf('a finalizer', { finalizers: ['example.com/a'] }, path),
  metadataOf('an owner', { ownerReferences: [OWNER] }, path),
  metadataOf('a generation', { generation: 77 }, path),
  metadataOf('nothing at all', {}, path),
]
/** Of an object that has neither labels nor annotations. */
export const ON_BARE: readonly Case[] = [
  ...ON_METADATA(HEALTH_CHECK).map(unchanged),
  unchanged(metadataOf('no labels and no annotations, said', { labels: {}, annotations: {} })),
  {
    says: 'a status, where it is not looked at',
    ask: ['PATCH', HEALTH_CHECK, { status: { healthyNodes: 1 } }, MERGE],
    isOurs: true,
    isUnchanged: true,
  },
  {
    says: 'an apply of what is there',
    ask: ['PATCH', `${HEALTH_CHECK}?fieldManager=x`, check({ name: NAME }), APPLY],
    isOurs: true,
    isUnchanged: true,
  },
  metadataOf('its first label', { labels: { a: 'b' } }),
  metadataOf('its first annotation', { annotations: { a: 'b' } }),
  SPEC_EDIT,
]
/** Of an object that has one of each. */
export const ON_LABELLED: readonly Case[] = [
  ...ON_METADATA(HEALTH_CHECK).map(unchanged),
  unchanged(metadataOf('the same label', { labels: { a: 'b' } })),
  metadataOf('another value of its label', { labels: { a: 'c' } }),
  metadataOf('another label in its place', { labels: { a: null, b: 'b' } }),
  metadataOf('one label more', { labels: { b: 'b' } }),
  metadataOf('the end of its last label', { labels: null }),
  metadataOf('another value of its annotation', { annotations: { a: 'c' } }),
  metadataOf('the end of its last annotation', { annotations: null }),
  SPEC_EDIT,
]
/** Of an object that has as much of both as anybody would bear. */
export const ON_LADEN: readonly Case[] = [
  ...ON_METADATA(HEALTH_CHECK).map(unchanged),
  metadataOf('one label of thousands', { labels: { 'a-1': 'c' } }),
  metadataOf('one annotation of thousands', { annotations: { 'a-1': 'c' } }),
  SPEC_EDIT,
]
const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a-${at}`, value]))
export const LADEN = { labels: many(5_000, 'b'), annotations: many(5_000, 'b'.repeat(40)) }

/** Of kinds that are the API server's own it does not count what changes, or not everything. */
export const ON_BUILT_IN: readonly Case[] = [
  ...ON_METADATA(SERVICE),
  {
    says: 'another port',
    ask: ['PATCH', SERVICE, { spec: { ports: [{ port: 81 }] } }, MERGE],
    isOurs: true,
  },
  { says: 'a delete', ask: ['DELETE', SERVICE], isOurs: true },
]

/** What another webhook makes of a write, after ours. */
export interface Late {
  readonly patch: readonly object[]
  readonly cases: readonly Case[]
}

const FINALIZER = metadataOf('a finalizer', { finalizers: ['example.com/a'] })
export const LATE: Readonly<Record<string, Late>> = {
  'that moves a field by itself': {
    patch: [{ op: 'replace', path: '/spec/minHealthy', value: '13%' }],
    cases: [FINALIZER, SPEC_EDIT],
  },
  'that moves a field, and says that nothing was changed': {
    patch: [
      { op: 'replace', path: '/spec/minHealthy', value: '13%' },
      { op: 'replace', path: '/metadata/generation', value: 1 },
    ],
    cases: [FINALIZER],
  },
  'that takes the only change back': {
    patch: [{ op: 'replace', path: '/spec/minHealthy', value: '51%' }],
    cases: [unchanged(SPEC_EDIT)],
  },
  'that changes a label by itself': {
    patch: [{ op: 'add', path: '/metadata/labels', value: { c: 'd' } }],
    cases: [FINALIZER],
  },
  'that takes the generation away': {
    patch: [{ op: 'remove', path: '/metadata/generation' }],
    cases: [unchanged(FINALIZER), SPEC_EDIT],
  },
  'that makes the labels null': {
    patch: [{ op: 'add', path: '/metadata/labels', value: null }],
    cases: [FINALIZER],
  },
}
