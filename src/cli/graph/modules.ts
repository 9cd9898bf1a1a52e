import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderModule } from '../../shared/modules/folder.ts'
import type { Module } from '../../shared/modules/module.ts'
import { ownPath } from '../assets.ts'

/** The modules that come with the program, by name. */
export function loadEmbedded(): ReadonlyMap<string, Module> {
  const folder = ownPath('graph/modules')
  return new Map(readdirSync(folder).map((name) => [name, moduleAt(join(folder, name))]))
}

/** The platform's policies that come with the program. */
export const loadPolicies = (): Module => moduleAt(ownPath('graph/policies'))

function moduleAt(folder: string): Module {
  const module = folderModule(folder)
  if (module.ok) return module.value
  throw new Error(`${folder}: ${module.error.message}`)
}
