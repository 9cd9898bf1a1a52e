import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

import type { Schema } from '../../src/shared/engine/merge/tree-of.ts'

const TEST = join(import.meta.dirname, '../../test')

/** A kind as its CustomResourceDefinition has it. */
export interface Definition {
  /** Where it is, from the root of the repository. */
  readonly file: string
  readonly group: string
  readonly kind: string
  readonly versions: readonly { readonly name: string; readonly schema: Schema }[]
}

interface Crd {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}

/**
 * The definitions of one group, whose files are named after the resource and its group, the newest of a kind first: those of
 * newer operators in test/clusters/definitions, and then those in test/crds.
 */
export const definitionsOf = (group: string): readonly Definition[] =>
  [`clusters/definitions/*.${group}.yaml`, `crds/*/*.${group}.yaml`].flatMap((files) =>
    globSync(files, { cwd: TEST }).sort().map(readDefinition),
  )

/** Reads the file of a CustomResourceDefinition, in the folder of the tests. */
function readDefinition(file: string): Definition {
  const { spec } = parse(readFileSync(join(TEST, file), 'utf8')) as Crd
  return {
    file: `test/${file}`,
    group: spec.group,
    kind: spec.names.kind,
    versions: spec.versions.map(({ name, schema }) => ({ name, schema: schema.openAPIV3Schema })),
  }
}
