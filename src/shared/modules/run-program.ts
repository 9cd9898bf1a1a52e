import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { EvaluatorUnavailable, TimedOut, TooMuch } from './evaluation.ts'
import { LIMITS } from './module.ts'

/** What is run, with what on its standard input, and how long it may take. */
export interface Run {
  readonly program: string
  readonly request: string
  readonly deadlineMs: number
  /** Ends it before. */
  readonly signal: AbortSignal
}

/** What the program wrote. */
export interface Answered {
  readonly kind: 'Answered'
  readonly text: string
}

type Ended = Answered | TimedOut | TooMuch | EvaluatorUnavailable

/** As Go has it: the runtime gave up, for want of memory or stack. Panics have an answer. */
const OUT_OF_MEMORY = 2
const MOST_COMPLAINT = 1024

/**
 * Runs the program once. It has no variable, and a process group of its own that is killed at the deadline: when this resolves, nothing
 * of it is left.
 */
export async function runProgram(run: Run): Promise<Ended> {
  try {
    const options = { cwd: '/', env: {}, detached: true } as const
    return await ended(spawn(run.program, [], options), run)
  } catch (error) {
    return unavailable((error as Error).message)
  }
}

function ended(child: ChildProcessWithoutNullStreams, run: Run): Promise<Ended> {
  const { deadlineMs } = run
  const answer: Buffer[] = []
  let complaint = ''
  let bytes = 0
  let verdict: Ended | undefined
  const kill = (why: Ended) => {
    verdict ??= why
    killGroup(child.pid)
  }
  const timer = setTimeout(() => kill({ kind: 'TimedOut', deadlineMs }), deadlineMs)
  const abort = () => kill(unavailable('it was closed'))
  run.signal.addEventListener('abort', abort)

  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > LIMITS.answerBytes) kill({ kind: 'TooMuch', what: 'output' })
    else answer.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < MOST_COMPLAINT) complaint += chunk.toString()
  })
  child.stdin.on('error', () => undefined) // it ended before it had read all: how it ended says why
  child.stdin.end(run.request)

  return new Promise((resolve) => {
    child.on('error', (error) => kill(unavailable(error.message)))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      run.signal.removeEventListener('abort', abort)
      resolve(verdict ?? endOf(code, signal, { answer, complaint }))
    })
  })
}

function endOf(
  code: number | null,
  signal: string | null,
  said: { readonly answer: readonly Buffer[]; readonly complaint: string },
): Ended {
  if (code === 0) return { kind: 'Answered', text: Buffer.concat(said.answer).toString() }
  // A kill that is not ours is the kernel's, where the machine has no memory left.
  if (code === OUT_OF_MEMORY || signal === 'SIGKILL') return { kind: 'TooMuch', what: 'memory' }
  const [first = ''] = said.complaint.split('\n')
  return unavailable(`it ended with ${signal ?? `exit code ${code}`}${first && `: ${first}`}`)
}

/** That there is no evaluator, and why. */
export const unavailable = (why: string): EvaluatorUnavailable => ({
  kind: 'EvaluatorUnavailable',
  message: `the CUE evaluator cannot be used: ${why}`,
})

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return // never started
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // gone already
  }
}
