// First, since it counts what is compiled after it.
import '../work.ts'

import fc from 'fast-check'
import t from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  OVERRIDES,
} from '../../../src/shared/baseline/annotations.ts'
import { ANNOTATION_FORMATS } from '../../../src/shared/baseline/catalog/annotation-formats.ts'
import { plan } from '../../../src/shared/baseline/planner.ts'
import {
  emptyOptIns,
  optInProblems,
  optIns,
} from '../../../src/shared/baseline/settings/opt-ins.ts'
import { readSettings, unknownNames } from '../../../src/shared/baseline/settings/settings.ts'
import { cut, escapeControls, formatValue } from '../../../src/shared/engine/format-value.ts'
import { catalog } from '../baseline/facts.ts'
import { objectWith, seed, tree } from '../engine/merge/schemas.ts'
import { runs } from '../runs.ts'
import { workOf } from '../work.ts'
import { baselineOf, edited, handlersWith, requestFor } from './known.ts'

/** Whoever reads what an author wrote, by what it is: of so many characters at most. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(
    Object.entries(ANNOTATION_FORMATS).map(([name, { problemOf }]) => [name, problemOf]),
  ),
  ...Object.fromEntries(
    [AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES, ENFORCEMENT].map((key) => [
      key,
      (text: string) => unknownNames(readSettings({ [key]: text }).settings, catalog),
    ]),
  ),
  ...Object.fromEntries(
    OVERRIDES.map((key) => [
      key,
      (text: string) =>
        plan({
          baseline: objectWith({ free: { map: {}, list: [1, 2] }, byName: [] }),
          object: objectWith({}, { annotations: { [key]: text } }),
          tree,
          isSensitive: false,
        }),
    ]),
  ),
  'opt-ins': (text) => {
    const annotations = Object.fromEntries([...optIns(catalog).keys()].map((key) => [key, text]))
    return [optInProblems(catalog, annotations), emptyOptIns(catalog, annotations)]
  },
  'a value that is shown': (text) => formatValue('/spec/a', text),
  'a text that is cut': (text) => cut(text, 256),
  'a text that is escaped': escapeControls,
  'a pointer with a value': (text) => formatValue(text, text),
}

const pieces = [
  'a',
  'a,',
  'a*',
  '-',
  ' ',
  '\n',
  '- a\n',
  '- "\n',
  '- }\n',
  '- {kind: "*", name: a}\n',
  '"\\x',
  '{',
  '[',
  ']',
  ',',
  '10de:1eb8,',
  '/spec/free/a,',
  '/spec/list/0,',
  '{"op":"add","path":"/spec/free/a","value":1},',
  '{"op":"copy","from":"/spec/free","path":"/spec/free/a"},',
  '{"op":"test","path":"/spec/free/map","value":{}},',
  '"/spec/free/a",',
  'eyJabcdefgh.',
  '://a:b',
  'aA1',
  '\u0001',
  '\ud83d\ude00',
]
const heads = ['', '[', '"', '- ', '[{"op":"add","path":"/spec/free/a","value":']

const anyPiece = fc.oneof(fc.constantFrom(...pieces), fc.string({ minLength: 1, maxLength: 6 }))

/** A text of so many characters, of one piece over and over and then of another; numbered, or all alike. */
const texts = fc.record({
  head: fc.constantFrom(...heads),
  piece: anyPiece,
  other: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, anyPiece),
  isNumbered: fc.boolean(),
  length: fc.constantFrom(500, 4_000, 16_000, 32_000, 120_000),
})

interface Drawn {
  readonly head: string
  readonly piece: string
  readonly other: string | undefined
  readonly isNumbered: boolean
}

function textOf({ head, piece, other, isNumbered }: Drawn, length: number): string {
  const number = (index: number) => index.toString(16).padStart(4, '0')
  const repeated = (part: string, size: number) =>
    Array.from({ length: size / part.length + 1 }, (_, index) =>
      isNumbered ? part.replace(/a|1eb8/, number(index)) : part,
    )
      .join('')
      .slice(0, size)
  if (other === undefined) return `${head}${repeated(piece, length)}`.slice(0, length)
  const half = (length - head.length) / 2
  return `${head}${repeated(piece, half)}${repeated(other, half)}`
}

// What grows with the square takes four times as much for twice the length.
const LINEAR = 2.6
const PER_CHARACTER = 10
// What is done for any text, however short.
const ALWAYS = 3_000

const workOn = (read: (text: string) => unknown, text: string) => {
  const { steps, walked } = workOf(() => read(text))
  return { steps, walked }
}

for (const [what, read] of Object.entries(readers)) {
  t.test(`a text twice as long is twice the work, or refused: ${what}`, async (t) => {
    // What is done once and kept for later is not work on the text.
    read('a')
    const property = fc.property(texts, ({ length, ...drawn }) => {
      const [one, two] = [length, 2 * length].map((size) => workOn(read, textOf(drawn, size)))
      for (const count of ['steps', 'walked'] as const) {
        const [before = 0, after = 0] = [one?.[count], two?.[count]]
        // A longer text may be read further where a shorter one is refused at once.
        const isLittle = after < PER_CHARACTER * 2 * length
        if (after > LINEAR * before + ALWAYS && !isLittle)
          throw new Error(`${length} characters: ${before} ${count}, twice as many: ${after}`)
      }
    })
    fc.assert(property, { seed, numRuns: runs(5) })
    t.pass('for all texts that were drawn')
  })
}

t.test('what is told of a write is twice the work for twice the fields', async (t) => {
  const hco = baselineOf('hco-golden-config')
  const { mutate, validate } = handlersWith()
  const edits: Readonly<Record<string, (count: number) => object>> = {
    members: (count) => ({
      liveMigrationConfig: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`k${index}`, index]),
      ),
    }),
    items: (count) => ({ uninstallStrategy: Array.from({ length: count }, (_, index) => index) }),
    letters: (count) => ({ uninstallStrategy: 'x'.repeat(count) }),
  }
  for (const [what, edit] of Object.entries(edits)) {
    const workFor = (count: number) => {
      const object = edited(hco, { spec: (spec) => ({ ...spec, ...edit(count) }) })
      const request = requestFor('UPDATE', { object, oldObject: hco })
      return workOf(() => [mutate(request), validate(request)])
    }
    workFor(10)
    const [one, two] = [workFor(5_000), workFor(10_000)]
    t.ok(two.steps < LINEAR * one.steps + ALWAYS, `${what}: ${one.steps}, ${two.steps}`)
    t.ok(two.walked < LINEAR * one.walked + ALWAYS, `${what}: ${one.walked}, ${two.walked}`)
  }
})

t.test('the counter sees what grows with the square', async (t) => {
  const quadratic = (text: string) => {
    const ids = text.split(',')
    return ids.find((id, index) => ids.indexOf(id) !== index)
  }
  const [one, two] = [500, 1_000].map((count) =>
    workOn(quadratic, Array.from({ length: count }, (_, index) => index).join()),
  )
  t.ok((two?.walked ?? 0) > 3.5 * (one?.walked ?? 0), 'a search in a list for each of its items')
  const shown = [500, 1_000].map((length) =>
    workOn((text) => formatValue('/spec/a', text.split(''), length), '-'.repeat(length)),
  )
  t.ok((shown[0]?.steps ?? 0) > 500, 'and our own code')
  t.ok((shown[1]?.steps ?? 0) > 1.9 * (shown[0]?.steps ?? 0))
})
