import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Go } from './go.ts'

const GB = 1e9
const COLD_BUILD = 5 * GB
const WARM_BUILD = GB

/** Throws, with the way out, if a build, of this version of Kubernetes or of none, would fill a disk that it writes to. */
export async function requireRoom(
  go: Go,
  folder: string,
  title: string,
  version: string | undefined,
): Promise<void> {
  const sources = join(go.moduleCache, 'k8s.io', `kubernetes@v${version}`)
  const isCold = !existsSync(sources) || !existsSync(go.buildCache)
  const needed = version !== undefined && isCold ? COLD_BUILD : WARM_BUILD
  for (const path of [go.buildCache, go.moduleCache, folder]) {
    const free = await freeBytes(path)
    if (free < needed) throw noRoom(title, path, free, needed)
  }
}

function noRoom(title: string, path: string, free: number, needed: number): Error {
  const has = `${(free / GB).toFixed(1)} GB free`
  return new Error(
    `building ${title} needs ${needed / GB} GB of disk, and ${path} is on one with ${has}: make room, or set GOCACHE, GOMODCACHE and XDG_CACHE_HOME to folders on another`,
  )
}

// Where the path is, or would be.
async function freeBytes(path: string): Promise<number> {
  if (!existsSync(path)) return freeBytes(dirname(path))
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}
