import { accessSync, constants } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Env } from '../src/shared/ops/env.ts'

/**
 * Where a helm is: at HELM, or on the PATH.
 *
 * @throws with the way out, where there is none
 */
export async function findHelm(env: Env, _print: (line: string) => void): Promise<string> {
  if (env.HELM) return resolve(env.HELM)
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = folders.map((folder) => join(folder, 'helm')).find(isExecutable)
  if (found === undefined) throw new Error('there is no helm: set HELM to the path of one')
  return found
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
