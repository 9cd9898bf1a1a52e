import { type Command, CommanderError } from 'commander'

/** The command line itself is wrong. */
export class UsageError extends Error {
  override name = 'UsageError' as const
}

/**
 * Runs one command. Returns the exit code: 0, 2 for a wrong command line, 1 for everything else, told
 * in one line; the stack only where the command line asks for debug.
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
    const { message, stack } = error as Error
    stderr.write(`virt-platform-autopilot: ${isDebug(args) ? stack : message}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

const isDebug = (args: readonly string[]) => /--log-level[ =]debug/.test(args.join(' '))
