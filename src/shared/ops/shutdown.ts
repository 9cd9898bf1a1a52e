/** Runs `end` once the signal aborts; resolves or rejects as it does. */
export const afterAbort = (signal: AbortSignal, end: () => Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => void end().then(resolve, reject)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })

/** A signal that aborts at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function signalOnTermination(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130)
      controller.abort()
    })
  }
  return controller.signal
}
