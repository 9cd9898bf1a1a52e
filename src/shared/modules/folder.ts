import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Result } from '../engine/result.ts'
import { createModule, type Module, type ModuleError } from './module.ts'

/** A module of the CUE files in a folder and below it, such as one that comes with the program; throws where there is no such folder. */
export function folderModule(folder: string): Result<Module, ModuleError> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.cue'))
    .map(({ parentPath, name }) => join(parentPath, name))
  const textOf = (path: string) => [
    relative(folder, path).split(sep).join('/'),
    readFileSync(path, 'utf8'),
  ]
  return createModule(Object.fromEntries(paths.map(textOf)))
}

/** The modules that come with the program, each in a folder of its own in this one, by their names; throws where one is none. */
export function embeddedModules(folder: string): ReadonlyMap<string, Module> {
  const entries = readdirSync(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return new Map(names.sort().map((name) => [name, embeddedModule(join(folder, name))]))
}

/** A module that comes with the program; throws where it is none. */
export function embeddedModule(folder: string): Module {
  const made = folderModule(folder)
  if (!made.ok) throw new Error(`reading the module in ${folder}: ${made.error.message}`)
  return made.value
}
