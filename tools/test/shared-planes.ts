import { env } from 'node:process'
import { SHARED_PLANE, startSharedPlane } from '../../test/cluster/harness/plane/shared-plane.ts'
import { findBinaries } from '../go-programs/binaries.ts'

/** A control plane that outlives the test files of one slot: what tells them of it, and how it ends. */
export interface Plane {
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts one control plane for each slot. */
export async function startPlanes(count: number): Promise<readonly Plane[]> {
  if (count === 0) return []
  const binaries = await findBinaries({ env, print: console.error, controllers: false })
  const start = async () => {
    const { file, stop } = await startSharedPlane(binaries, console.error)
    return { env: { [SHARED_PLANE]: file }, stop }
  }
  const first = await start() // which prepares the data that the others start with, too
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))]
}
