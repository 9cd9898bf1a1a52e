import { createIdentity } from '../engine/identity.ts'
import { PREFIX } from './annotations.ts'

/** The names of the baseline's own objects. */
export const BASELINE = createIdentity('baseline', PREFIX)
