import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { documentsIn } from '../../../src/cli/read-objects.ts'
import { findBinaries } from '../../../tools/go-programs/binaries.ts'
import { MAPS, SCALARS, statedIn, stating } from '../../unit/cli/kubectl-scalars.ts'
import { seed } from '../../unit/engine/merge/schemas.ts'
import { runs } from '../../unit/runs.ts'
import { environment } from '../harness/fixture.ts'

/** What may be a number, a date or a word; what begins a comment, a list or a map is no scalar. */
const scalar = fc
  .oneof(
    fc.stringMatching(/^[-+]?[0-9_.]{1,4}([eExXoObB:.-][-+0-9a-fA-F_]{0,4})?$/),
    fc.stringMatching(/^[yYnNtTfFoOaAlLsSrRuUeE~]{1,5}$/),
  )
  .filter((text) => !/^-+$|:$|^\.\.\.|^---/.test(text))

t.test('YAML is read as kubectl reads it', async (t) => {
  const { kubectl } = await findBinaries({
    env: environment(),
    print: (line) => t.comment(line),
    controllers: false,
  })
  const folder = t.testdir()
  const file = join(folder, 'thing.yaml')
  const asKubectl = (texts: readonly string[]): readonly unknown[] => {
    writeFileSync(file, stating(texts))
    const label = ['label', '--local', '-f', file, 'a=b', '-o', 'json']
    const said = execFileSync(kubectl, label, { encoding: 'utf8', env: { HOME: folder } })
    return statedIn(JSON.parse(said))
  }

  await t.test('the table is true', async (t) => {
    const all: typeof SCALARS = [...SCALARS, ...MAPS]
    const stated = asKubectl(all.map(([text]) => text))
    for (const [index, [text, value]] of all.entries()) t.strictSame(stated[index], value, text)
  })

  await t.test(`any scalar, with seed ${seed}`, async (t) => {
    const texts = fc.sample(scalar, { numRuns: runs(3_000), seed })
    const theirs = asKubectl(texts)
    const ours = documentsIn('f', stating(texts)).flatMap(({ value }) => statedIn(value))
    for (const [index, text] of texts.entries())
      if (ours[index] !== theirs[index]) t.equal(ours[index], theirs[index], text)
    t.ok(theirs.filter((value) => typeof value === 'number').length > texts.length / 10)
    t.ok(theirs.filter((value) => typeof value === 'string').length > texts.length / 10)
  })
})
