import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Evaluator } from '../../shared/modules/evaluator.ts'
import type { Env } from '../../shared/ops/env.ts'
import { UsageError } from '../run-cli.ts'

const NAME = 'cue-evaluator'
const VARIABLE = 'CUE_EVALUATOR'

/** Calls `work` with an evaluator of CUE, and closes it then. Throws where there is none, with the way out. */
export async function withEvaluator<Result>(
  given: string | undefined,
  env: Env,
  work: (evaluator: Evaluator) => Promise<Result>,
): Promise<Result> {
  const evaluator = new Evaluator({ program: evaluatorPath(given, env) })
  try {
    return await work(evaluator)
  } finally {
    evaluator.close()
  }
}

/** Where the program is that evaluates CUE: as the command line has it, as the environment has it, or where the image has it. */
export function evaluatorPath(
  given: string | undefined,
  env: Env,
  beside = join(import.meta.dirname, '../bin', NAME),
): string {
  const stated = given ?? (env[VARIABLE] || undefined)
  const path = stated ?? beside
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path
  const what = stated === undefined ? `there is no ${NAME}` : `${stated} is no file`
  throw new UsageError(
    `${what}: name the program that evaluates CUE with --cue-evaluator or ${VARIABLE}; in a clone, npm run -s ${NAME} builds it and prints where it is`,
  )
}
