import { setTimeout as sleep } from 'node:timers/promises'

export interface InsistOptions {
  readonly onTrouble: (what: string, error: Error) => void
  readonly retryMs: number
  readonly signal: AbortSignal
}

/** Does something until it succeeds; rejects only when the signal aborts. */
export type Insist = <T>(what: string, work: () => Promise<T>) => Promise<T>

/** Creates a function that does not take no for an answer, for what must be known before anything else. */
export function createInsistence({ onTrouble, retryMs, signal }: InsistOptions): Insist {
  const insist: Insist = (what, work) =>
    work().catch(async (error: Error) => {
      onTrouble(what, error)
      await sleep(retryMs, undefined, { signal })
      return insist(what, work)
    })
  return insist
}
