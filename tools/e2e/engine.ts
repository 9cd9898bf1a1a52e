import { UsageError } from '../../src/cli/run-cli.ts'

/** Runs a program to its end; rejects where that is not a good one. */
export type Run = (file: string, args: readonly string[]) => Promise<void>

const ENGINES = ['docker', 'podman'] as const

/** What runs containers on this machine. */
export type Engine = (typeof ENGINES)[number]

/**
 * The first engine that answers.
 *
 * @throws with the way out, where none does
 */
export async function findEngine(ask: Run): Promise<Engine> {
  for (const engine of ENGINES) {
    const isThere = await ask(engine, ['info']).then(
      () => true,
      () => false,
    )
    if (isThere) return engine
  }
  throw new UsageError(
    `kind needs ${ENGINES.join(' or ')}, and none answers here: start one, or rehearse on another cluster with --kubeconfig FILE, or without containers with --embedded`,
  )
}
