import { type Command, CommanderError } from 'commander'
import { CatalogError } from '../shared/baseline/catalog/catalog-error.ts'
import { escapeControls } from '../shared/engine/format-value.ts'

/** The command line itself is wrong. */
export class UsageError extends Error {
  override name = 'UsageError' as const
}

/** A command whose exit code 1 is an answer could not find that answer out. */
export class UndecidedError extends Error {
  override name = 'UndecidedError' as const
}

/** The answer of such a command, or that it could not be found out. */
export async function decided<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return answer.catch((cause: Error) => {
    throw new UndecidedError(cause.message, { cause })
  })
}

/**
 * Runs one command. Returns the exit code: 0, 2 for a wrong command line or where 1 would say something, 1 for
 * everything else, told in one line; the stack only where the command line asks for debug.
 */
export async function runCli(
  program: Command,
  args: readonly string[],
  stderr: { write: (text: string) => unknown },
): Promise<number> {
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const told = isDebug(args) ? stackOf(error as Error) : messageOf(error as Error)
    stderr.write(`virt-platform-autopilot: ${told}\n`)
    return TWO.some((type) => error instanceof type) ? 2 : 1
  }
}

const TWO = [UsageError, UndecidedError]

const isDebug = (args: readonly string[]) => /--log-level[ =]debug/.test(args.join(' '))

/** The message, of which only a catalog's mistakes are lines: it may name files and quote what is in them. */
function messageOf(error: Error): string {
  const failed = [error, error.cause].find((found) => found instanceof CatalogError)
  return safe(failed?.mistakes ?? [error.message])
}

function stackOf(error: Error): string {
  const { stack = '', message, cause } = error
  const told = safe(stack.replace(message, () => messageOf(error)).split('\n'))
  return cause instanceof Error ? `${told}\ncaused by ${stackOf(cause)}` : told
}

const safe = (lines: readonly string[]) => lines.map(escapeControls).join('\n')

/** Tells what a person should know beside the answer, on standard error. */
export const warn = (line: string) => {
  process.stderr.write(`virt-platform-autopilot: ${escapeControls(line)}\n`)
}
