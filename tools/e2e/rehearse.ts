import { UsageError } from '../../src/cli/run-cli.ts'
import { cleanUp } from '../../test/e2e/platform.ts'
import { openRehearsal, type Site } from '../../test/e2e/rehearsal.ts'
import { SCENARIO } from '../../test/e2e/scenario.ts'

/** How to rehearse. */
export interface RehearsalOptions {
  /** Whether a platform that is there before us may be brought to the baseline. */
  readonly mayChange: boolean
  /** Whether what was brought stays. */
  readonly isKept: boolean
  readonly print: (line: string) => void
  /** Aborts when no further step should be taken. */
  readonly signal: AbortSignal
}

/** Takes every step of the scenario on a cluster, and tells how long each took. Rejects with the first that fails. */
export async function rehearse(site: Site, options: RehearsalOptions): Promise<void> {
  const { mayChange, isKept, print, signal } = options
  const rehearsal = await openRehearsal(site)
  try {
    if (!rehearsal.isBare && !mayChange)
      throw new UsageError(
        'this cluster has the API of HyperConverged: its platform would be brought to the baseline, and its nodes drained. If that is what you want: --yes-change-this-cluster',
      )
    for (const { title, run } of SCENARIO) {
      signal.throwIfAborted()
      const start = performance.now()
      try {
        await run(rehearsal)
      } catch (cause) {
        throw new Error(`not so: ${title}\n${(cause as Error).message}`, { cause })
      }
      print(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)}s  ${title}`)
    }
    if (!isKept) await cleanUp(rehearsal)
  } finally {
    await rehearsal.close()
  }
}
