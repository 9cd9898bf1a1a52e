import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A path of the repository that this program runs in, sources or bundle; undefined outside a clone. */
export function inClone(path: string, start = import.meta.dirname): string | undefined {
  const found = join(start, path)
  if (existsSync(found)) return found
  return dirname(start) === start ? undefined : inClone(path, dirname(start))
}
