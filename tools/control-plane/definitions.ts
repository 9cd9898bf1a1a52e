import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Manifest, manifestsIn } from './manifests.ts'

/** A CustomResourceDefinition of `test/crds`, as the lock file there lists it. */
export interface Definition {
  /** The plural, and the group after the first dot. */
  readonly name: string
  readonly kind: string
  readonly category: string
  /** An asset applies the kind; a condition, a template or the facts look at it; or neither. */
  readonly tier: 'managed' | 'read' | 'other'
  readonly format: string
}

/** Where the definitions are listed, in their folder. */
export const LOCK_FILE = 'crds.lock.yaml'

/** The API group of the kind. */
export const groupOf = ({ name }: Pick<Definition, 'name'>): string =>
  name.slice(name.indexOf('.') + 1)

/** Whether the product has to do with the kind: the API server gets slow with all of them. */
export const isNeeded = ({ tier }: Pick<Definition, 'tier'>): boolean => tier !== 'other'

/** The definitions that the lock file of a folder lists. */
export const listDefinitions = (folder: string): readonly Definition[] =>
  parse(readFileSync(join(folder, LOCK_FILE), 'utf8')).definitions

/** Where a definition is in its folder: what was written by hand is apart from what is published. */
export const fileOf = ({ name, category, format }: Omit<Definition, 'kind' | 'tier'>): string =>
  join(format === 'standin' ? 'standins' : category, `${name}.yaml`)

/** The definitions of a folder, ready to be installed; by default those that the product has to do with. */
export const loadDefinitions = (
  folder: string,
  isWanted: (definition: Definition) => boolean = isNeeded,
): readonly Manifest[] =>
  listDefinitions(folder)
    .filter(isWanted)
    .flatMap((definition) => manifestsIn(join(folder, fileOf(definition))))
