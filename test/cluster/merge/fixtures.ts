import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { MergeCase } from './cases.ts'

/** Where the pairs are for which the two merges once differed. */
export const MERGE_FIXTURES = join(import.meta.dirname, '../../fixtures/merge')

/** The pairs that are kept, each named by its file. */
export const loadMergeFixtures = (): readonly MergeCase[] =>
  globSync('*.json', { cwd: MERGE_FIXTURES })
    .sort()
    .map((file) => ({
      ...JSON.parse(readFileSync(join(MERGE_FIXTURES, file), 'utf8')),
      name: basename(file, '.json').replaceAll('-', ' '),
    }))
