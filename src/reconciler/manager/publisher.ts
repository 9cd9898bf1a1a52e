import { setTimeout as sleep } from 'node:timers/promises'

export interface PublisherOptions<T> {
  readonly write: (value: T) => Promise<unknown>
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
  /** How long to wait after a failed write; a second by default. Each further failure doubles it, up to ten times. */
  readonly retryMs?: number
}

/** Writes the latest of the values that it is given, one write at a time, until one succeeds. */
export function createPublisher<T>({
  write,
  onTrouble,
  signal,
  retryMs = 1_000,
}: PublisherOptions<T>): (value: T) => void {
  let latest: { value: T } | undefined
  let isWriting = false
  let retryInMs = retryMs
  const run = async () => {
    isWriting = true
    while (latest && !signal.aborted) {
      const { value } = latest
      latest = undefined
      try {
        await write(value)
        retryInMs = retryMs
      } catch (error) {
        onTrouble(error as Error)
        latest ??= { value }
        await sleep(retryInMs, undefined, { signal }).catch(() => undefined)
        retryInMs = Math.min(retryInMs * 2, retryMs * 10)
      }
    }
    isWriting = false
  }
  return (value) => {
    latest = { value }
    if (!isWriting) void run()
  }
}
