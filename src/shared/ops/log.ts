import { pino } from 'pino'

import { escapeControls } from '../engine/format-value.ts'

export type Log = pino.Logger

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Creates the process's logger: one JSON line per entry, on standard error; stack traces at `debug` only. */
export const createLog = (
  name: string,
  level: LogLevel,
  stream: pino.DestinationStream = pino.destination({ fd: 2, sync: true }),
): Log =>
  pino(
    {
      name,
      level,
      serializers: { err: level === 'debug' ? pino.stdSerializers.err : briefly },
    },
    { write: (line) => stream.write(printable(line)) },
  )

// JSON leaves much as it is that reorders what a terminal shows, and has an escape for all of it.
const printable = (line: string) => `${escapeControls(line.trimEnd())}\n`

const briefly = (error: unknown) =>
  error instanceof Error ? { type: error.name, message: error.message } : { message: String(error) }

export interface TroubleTeller {
  (operation: string, error: Error): void
  /** What was told may be told again. */
  readonly recovered: () => void
}

/** Tells each trouble once until things go well again, and what troubles every request only once in all. */
export function createTroubleTeller(log: Log): TroubleTeller {
  const told = new Set<string>()
  const tell = (operation: string, error: Error) => {
    const common = commonTrouble(error)
    const topic = common ?? `${operation}: ${error.message}`
    if (told.has(topic)) return
    told.add(topic)
    log.warn({ err: error }, common ?? operation)
  }
  return Object.assign(tell, { recovered: () => told.clear() })
}

// By name and status: what tells is not to know who asks the API server, and how.
function commonTrouble(error: Error & { status?: number }): string | undefined {
  if (error.name === 'UnreachableError') return 'waiting for the API server'
  if (error.name === 'ApiError' && error.status === 401)
    return 'the API server does not accept our credentials; trying again'
  return undefined
}
