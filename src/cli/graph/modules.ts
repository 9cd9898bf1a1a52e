import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createModule, type Module } from '../../shared/modules/module.ts'
import { ownPath } from '../assets.ts'

/** The modules that come with the program, by name. */
export function loadEmbedded(): ReadonlyMap<string, Module> {
  const folder = ownPath('graph/modules')
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return new Map(names.map(({ name }) => [name, moduleAt(join(folder, name))]))
}

/** The platform's policies that come with the program. */
export const loadPolicies = (): Module => moduleAt(ownPath('graph/policies'))

/** A folder of CUE files on disk as a module. */
export function moduleAt(folder: string): Module {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.cue')).sort()
  const module = createModule(
    Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
  )
  if (module.ok) return module.value
  throw new Error(`${folder}: ${module.error.message}`)
}
