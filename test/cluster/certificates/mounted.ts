import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '../harness/fixture.ts'

/** A folder as the kubelet mounts a Secret: links into a folder of data that is swapped as a whole. */
export interface Mounted {
  readonly folder: string
  /** Swaps these contents in; a file that is not among them is gone. */
  readonly swap: (contents: Readonly<Record<string, string>>) => void
}

/** Makes a mounted folder with links of these names; it ends with the test. */
export function mountFiles(t: Scope, names: readonly string[]): Mounted {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-mounted-'))
  t.teardown(async () => rmSync(folder, { recursive: true }))
  for (const name of names) symlinkSync(`..data/${name}`, join(folder, name))
  let version = 0
  return {
    folder,
    swap(contents) {
      const data = `..${++version}`
      mkdirSync(join(folder, data))
      for (const [name, text] of Object.entries(contents))
        writeFileSync(join(folder, data, name), text)
      symlinkSync(data, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    },
  }
}
