import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FAULT_REASONS } from '../../../src/shared/graph/fault.ts'
import { MARKS } from '../../../src/shared/graph/names.ts'
import { MAX_GRAPH_BYTES, MAX_NODES } from '../../../src/shared/graph-engine/validate/size.ts'
import { LIMITS } from '../../../src/shared/modules/module.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const [users, authors] = [read('docs/graph/README.md'), read('docs/graph/modules.md')]

/** The words in code that the rows of a table begin with. */
const firstCells = (page: string, heading: string) => {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? []
  return rows.flatMap((row) => row.split(' | ')[0]?.match(/(?<=`)[\w-]+(?=`)/g) ?? [])
}

// As src/reconciler/graph/resource-graphs says them.
const OF_GRAPHS = [
  'Ready',
  'Progressing',
  'Pending',
  'Executing',
  'Failed',
  'Pruning',
  'Deleting',
  'TransformNotFound',
]

t.test('the page for users has each reason of Ready, and no other', async (t) => {
  t.same(firstCells(users, 'Conditions').sort(), [...FAULT_REASONS, ...OF_GRAPHS].sort())
})

t.test('it has each policy that is shipped', async (t) => {
  const names = globSync('assets/graph/policies/*.cue', { cwd: ROOT })
    .flatMap((file) => read(file).match(/(?<=^\s*name:\s+")[\w-]+(?=")/gm) ?? [])
    .sort()
  t.same(firstCells(users, 'Policies').sort(), [...new Set(names)])
})

t.test('it has each annotation that is read', async (t) => {
  const known = [MARKS.protectionAnnotation, MARKS.gracePeriodAnnotation]
  const named = users.match(/pequod\.io\/[a-z-]+/g)?.filter((name) => !name.endsWith('/v'))
  t.same([...new Set(named)].sort(), known.sort())
})

t.test('the limits that the page for authors states are the code’s', async (t) => {
  const KiB = 1 << 10
  t.match(authors, `| ${LIMITS.files}, ${LIMITS.moduleBytes / KiB / KiB} MiB together |`)
  t.match(authors, `| \`spec.input\` | ${LIMITS.inputBytes / KiB} KiB |`)
  t.match(authors, `| ${MAX_NODES}, ${MAX_GRAPH_BYTES / KiB} KiB together |`)
})
