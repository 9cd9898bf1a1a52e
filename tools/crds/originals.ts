import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { outputOf, type Place } from './command.ts'
import type { Originals } from './derive.ts'
import { downloadModule, SUMS_FILE } from './go-module.ts'
import { type GoModule, type Lock, nameOf, type PythonPackage, sourceOf } from './lock.ts'
import { downloadArchive, memberOf } from './python-package.ts'

/** Where the sums are, where to work, and who is told what takes time; the scratch folder is empty. */
export interface Setting {
  readonly folder: string
  readonly scratch: Place
  readonly print: (line: string) => void
}

/**
 * The files in the packages of a lock, each package downloaded when it is first asked for; the network, the
 * registries and the caches are those that go and pip are set up for.
 */
export function createOriginals(lock: Lock, { folder, scratch, print }: Setting): Originals {
  const sums = readFileSync(join(folder, SUMS_FILE), 'utf8')
  writeFileSync(join(scratch.cwd, 'go.mod'), 'module scratch\n')
  copyFileSync(join(folder, SUMS_FILE), join(scratch.cwd, 'go.sum'))

  const announce = (source: GoModule | PythonPackage) =>
    print(`getting ${nameOf(source)} ${source.version}`)
  const folderOf = remembered(nameOf, (module: GoModule) => {
    announce(module)
    return downloadModule(module, { ...scratch, sums })
  })
  const archiveOf = remembered(nameOf, (source: PythonPackage) => {
    announce(source)
    return downloadArchive(source, scratch)
  })
  const memberAt = remembered(
    ([archive, path]: readonly [string, string]) => `${archive} ${path}`,
    ([archive, path]) => memberOf(archive, path, scratch),
  )
  return {
    async read(definition) {
      const source = sourceOf(lock, definition)
      const { path } = definition
      if ('module' in source) return readFile(join(await folderOf(source), path))
      return memberAt([await archiveOf(source), path])
    },
    async generate(definition) {
      const source = sourceOf(lock, definition)
      if (!('module' in source)) throw new Error(`${nameOf(source)} is no Go module`)
      const { module, version } = lock.generator
      // It runs by its version alone; its sum is compared here, before it does.
      await folderOf(lock.generator)
      const generator = `${module}/cmd/controller-gen@${version}`
      return outputOf(
        'go',
        ['run', generator, 'crd', `paths=${definition.goPackage}`, 'output:stdout'],
        { ...scratch, cwd: await folderOf(source) },
      )
    },
  }
}

/** A function that makes what it gives once for each key, and fails for all who ask where that failed. */
function remembered<Key, Value>(keyOf: (key: Key) => string, make: (key: Key) => Value) {
  const known = new Map<string, Value>()
  return (key: Key): Value => {
    const id = keyOf(key)
    const value = known.get(id) ?? make(key)
    known.set(id, value)
    return value
  }
}
