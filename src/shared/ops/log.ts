import { pino } from 'pino'

export type Log = pino.Logger

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Creates the process's logger: one JSON line per entry, on standard error; stack traces at `debug` only. */
export const createLog = (name: string, level: LogLevel): Log =>
  pino(
    {
      name,
      level,
      serializers: { err: level === 'debug' ? pino.stdSerializers.err : briefly },
    },
    pino.destination({ fd: 2, sync: true }),
  )

const briefly = (error: unknown) =>
  error instanceof Error ? { type: error.name, message: error.message } : { message: String(error) }

export interface TroubleTeller {
  (operation: string, error: Error): void
  /** What was told may be told again. */
  readonly recovered: () => void
}

/** Tells each trouble once until things go well again, and an API server that does not answer only once in all. */
export function createTroubleTeller(log: Log): TroubleTeller {
  const told = new Set<string>()
  const tell = (operation: string, error: Error) => {
    const isUnreachable = error.name === 'UnreachableError'
    const topic = isUnreachable ? error.name : `${operation}: ${error.message}`
    if (told.has(topic)) return
    told.add(topic)
    if (isUnreachable) log.warn({ err: error }, 'waiting for the API server')
    else log.warn({ err: error }, operation)
  }
  return Object.assign(tell, { recovered: () => told.clear() })
}
