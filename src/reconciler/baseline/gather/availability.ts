import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Observations } from './facts.ts'

/** Why nothing can be decided yet; `NotYet` needs no telling. */
export type Unavailable =
  | { readonly kind: 'unavailable'; readonly reason: 'NotYet' }
  | {
      readonly kind: 'unavailable'
      readonly reason: 'NoApi' | 'NoHyperConverged' | 'TwoHyperConvergeds'
      readonly message: string
    }

/** The cluster as it is known, if enough of it is. */
export type Snapshot = Unavailable | { readonly kind: 'ready'; readonly observations: Observations }

export const NOT_YET: Unavailable = { kind: 'unavailable', reason: 'NotYet' }

/** Whether there is no HyperConverged, rather than one too many, or nothing known of it yet. */
export const isWithoutHyperConverged = ({ reason }: Unavailable) =>
  reason === 'NoApi' || reason === 'NoHyperConverged'

/** The HyperConverged that counts: the only one, of the catalog's name. */
export function hyperConvergedOf(hcos: readonly KubeObject[], name: string | undefined) {
  const [only, ...others] = hcos
  return others.length === 0 && only?.metadata.name === name ? only : undefined
}

/** What is known of the sources that a decision needs. */
export interface Known {
  /** The HyperConvergeds that are eligible. */
  readonly hcos: readonly KubeObject[]
  /** The name that the catalog's HyperConverged has. */
  readonly hcoName: string | undefined
  readonly isHcoServed: boolean
  /** Whether everything that facts are made of was read. */
  readonly areFactsRead: boolean
  /** Whether it was read if another autopilot is there. */
  readonly isOtherRead: boolean
}

/** Why nothing can be decided from what is known; undefined where it can. */
export function unavailability(known: Known): Unavailable | undefined {
  const { hcos, hcoName } = known
  if (!known.isHcoServed) {
    const message =
      'the API hco.kubevirt.io/HyperConverged is not served: nothing to do until it is installed'
    return { kind: 'unavailable', reason: 'NoApi', message }
  }
  if (!known.areFactsRead) return NOT_YET
  if (hyperConvergedOf(hcos, hcoName)) return known.isOtherRead ? undefined : NOT_YET
  if (hcos.length > 1) {
    const names = hcos.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    const message = `there are several HyperConvergeds, ${names.join(' and ')}: delete one, or choose with --hco-namespace; nothing is written`
    return { kind: 'unavailable', reason: 'TwoHyperConvergeds', message }
  }
  const message = 'there is no HyperConverged: nothing to do until one is created'
  return { kind: 'unavailable', reason: 'NoHyperConverged', message }
}
