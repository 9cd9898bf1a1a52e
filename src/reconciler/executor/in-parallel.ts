/** Of independent work so much at a time: the API server has others to serve. */
const CONCURRENCY = 10

/**
 * Does some work for each item, ten at a time, and gives the results in the order in which they came. Once one has failed nothing
 * more is begun; it rejects when what was begun has ended, so that nothing goes on unattended.
 */
export async function inParallel<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const left = [...items].values()
  let isBroken = false
  const worker = async () => {
    for (const item of left) {
      if (isBroken) return
      results.push(
        await work(item).catch((error) => {
          isBroken = true
          throw error
        }),
      )
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return results
}
