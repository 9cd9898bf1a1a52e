import { embeddedModule, embeddedModules } from '../../shared/modules/folder.ts'
import type { Module } from '../../shared/modules/module.ts'
import { ownPath } from '../assets.ts'

/** The modules that come with the program, by name. */
export const loadEmbedded = (): ReadonlyMap<string, Module> =>
  embeddedModules(ownPath('graph/modules'))

/** The platform's policies that come with the program. */
export const loadPolicies = (): Module => embeddedModule(ownPath('graph/policies'))
