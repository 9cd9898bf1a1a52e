const EVERY_MS = 10_000

/** Waits for a long step, and says every ten seconds how long it has taken. */
export async function withProgress<Result>(
  step: string,
  result: Promise<Result>,
  print: (line: string) => void,
): Promise<Result> {
  const start = performance.now()
  print(step)
  const timer = setInterval(() => print(`${step}: ${elapsed(performance.now() - start)}`), EVERY_MS)
  try {
    return await result
  } finally {
    clearInterval(timer)
  }
}

function elapsed(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
