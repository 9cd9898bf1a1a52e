import { createIdentity } from '../engine/identity.ts'
import type { MarkNames } from '../graph-engine/ownership.ts'

/** What every annotation and label of the system begins with. */
export const PREFIX = 'pequod.io/'

/** The names of the system's own objects. */
export const GRAPH = createIdentity('graph', PREFIX)

/** The API group of both kinds, and their version. */
export const GROUP = 'platform.pequod.io'
export const VERSION = 'v1alpha1'

/** On Transforms and ResourceGraphs: deleted when what they made is gone, or deliberately left. */
export const FINALIZER = `${PREFIX}graph`

/** What the objects of graphs are marked with. */
export const MARKS: MarkNames = {
  fieldManagerPrefix: 'pequod',
  ownerAnnotation: `${PREFIX}owner`,
  ownerLabel: `${PREFIX}graph`,
  protectionAnnotation: `${PREFIX}prune-protection`,
  gracePeriodAnnotation: `${PREFIX}prune-grace-period`,
}

/** The account of a namespace by which its Transforms act where they name none. */
export const DEFAULT_ACCOUNT = 'transforms'
