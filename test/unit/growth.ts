const FACTOR = 8
const ROUNDS = 3

/**
 * How much more processor time one task takes than eight of an eighth of its size, as the median of
 * several rounds: 1 where time grows with size, 8 where it grows with its square. No absolute time, so
 * that a slow machine or a busy one changes nothing.
 */
export function growth(size: number, taskOf: (size: number) => () => unknown): number {
  const [whole, part] = [taskOf(size), taskOf(Math.ceil(size / FACTOR))]
  const parts = () => {
    for (let count = 0; count < FACTOR; count++) part()
  }
  // Once unmeasured, so that both are compiled.
  whole()
  parts()
  const ratios = Array.from({ length: ROUNDS }, () => cost(whole) / cost(parts))
  return ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.POSITIVE_INFINITY
}

// What takes no time at all is repeated until it does.
function cost(task: () => unknown): number {
  const before = process.cpuUsage()
  let count = 0
  let spent = 0
  while (spent < 10_000) {
    task()
    count++
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  }
  return spent / count
}
