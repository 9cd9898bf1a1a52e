const FACTOR = 8
const ROUNDS = 12
const CLEARLY_LINEAR = 2

/**
 * How much more processor time one task takes than eight of an eighth of its size: 1 where time grows
 * with size, 8 where it grows with its square. The least of several rounds: a neighbour on the machine
 * can make a round look worse than the code is, and does not do so in each.
 */
export function growth(size: number, taskOf: (size: number) => () => unknown): number {
  const [whole, part] = [taskOf(size), taskOf(Math.ceil(size / FACTOR))]
  const parts = () => {
    for (let count = 0; count < FACTOR; count++) part()
  }
  // Once unmeasured, so that both are compiled.
  whole()
  parts()
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least >= CLEARLY_LINEAR; round++)
    least = Math.min(least, cost(whole) / cost(parts))
  return least
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
