/** Puts an entry at the end of a map that has room for so many; the oldest one leaves for a new one. */
export function putNewest<T>(map: Map<string, T>, room: number, key: string, value: T): void {
  // Deleted first, so that a key that comes again is the newest.
  map.delete(key)
  const [oldest] = map.keys()
  if (oldest !== undefined && map.size >= room) map.delete(oldest)
  map.set(key, value)
}
