import t from 'tap'
import { IGNORE_FIELDS, NAMES, PATCH } from '../../../src/shared/baseline/annotations.ts'
import { applyPatch, plan } from '../../../src/shared/baseline/planner.ts'
import { drift } from '../../../src/shared/engine/merge/merge.ts'
import { releaseFields } from '../../../src/shared/engine/overrides/ignore-fields.ts'
import { decide } from '../../../src/webhook/baseline/decide/decide.ts'
import { gather } from '../../../src/webhook/baseline/decide/gather.ts'
import { ignoreFor, patchFor } from '../../../src/webhook/baseline/decide/remedy.ts'
import type { ManagedObject } from '../../../src/webhook/baseline/snapshot.ts'
import { answerWrite } from '../../../src/webhook/baseline/words/answer.ts'
import { objectWith, tree } from '../engine/merge/schemas.ts'
import { growth } from '../growth.ts'
import { managedBy, snapshot } from './known.ts'

/** Half way, by order of magnitude, from growth with the size (1) to growth with its square (8). */
const LINEAR = 3

const times = <T>(count: number, item: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => item(index))

const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const copy = (from: string, path: string) => ({ op: 'copy', from, path })
const move = (from: string, path: string) => ({ op: 'move', from, path })

const wide = times(5_000, (index) => index)
const BASELINE = objectWith({
  free: { map: { inner: { leaf: true } }, list: [1, 2, 3], wide, big: 'x'.repeat(1_000) },
})
const DEEP = `/spec/free${'/d'.repeat(60)}`
const nested = times(60, () => 'd').reduceRight<unknown>((inner, name) => ({ [name]: inner }), {})

const patches: readonly (readonly [what: string, size: number, of: (size: number) => object[]])[] =
  [
    ['copies', 1_000, (size) => [...times(size, () => copy('/spec/free/map', '/spec/free/x'))]],
    [
      'copies until the result is at its limit',
      900,
      (size) => [...times(size, (index) => copy('/spec/free/big', `/spec/free/${index}`))],
    ],
    [
      'moves to and fro',
      1_000,
      (size) => [
        ...times(size, (index) =>
          index % 2 === 0
            ? move('/spec/free/map', '/spec/free/x')
            : move('/spec/free/x', '/spec/free/map'),
        ),
      ],
    ],
    [
      'tests',
      1_000,
      (size) => [...times(size, () => ({ op: 'test', path: '/spec/free/list/0', value: 1 }))],
    ],
    [
      'insertions at the head of a list',
      1_000,
      (size) => [...times(size, () => add('/spec/free/wide/0', 0))],
    ],
    [
      'pointers as deep as may be',
      300,
      (size) => [
        { op: 'replace', path: '/spec/free', value: nested },
        ...times(size, () => add(`${DEEP}/x`, 1)),
      ],
    ],
    [
      'a wide value',
      8_000,
      (size) => [
        add(
          '/spec/free/x',
          times(size, (index) => index),
        ),
      ],
    ],
    [
      'a value of many members',
      6_000,
      (size) => [
        add('/spec/free/x', Object.fromEntries(times(size, (index) => [`k${index}`, 1] as const))),
      ],
    ],
  ]

for (const [what, size, of] of patches) {
  t.test(`a patch takes time by its size: ${what}`, async (t) => {
    const ratio = growth(size, (part) => {
      const text = JSON.stringify(of(part))
      return () => applyPatch(BASELINE, text)
    })
    const text = JSON.stringify(of(size))
    const result = applyPatch(BASELINE, text)
    t.ok(result.ok, 'within the limits')
    t.ok(text.length <= 64 * 1024)
    t.ok(ratio < LINEAR, `${ratio}`)
  })
}

t.test('what is above a limit is refused before it is worked on', async (t) => {
  const remove = { op: 'remove', path: '/spec/free/map' }
  const touched: string[] = []
  // Whoever looks at the baseline is written down.
  const watched = new Proxy(BASELINE, {
    get: (target, name) => {
      touched.push(String(name))
      return Reflect.get(target, name)
    },
  })
  for (const [text, message] of [
    [JSON.stringify(times(10_000, () => remove)), /longer than 65536 characters/],
    [JSON.stringify(times(1_001, () => remove)), /1,000 operations/],
    [`[${'{},'.repeat(9_999)}{}]`, /1,000 operations/],
  ] as const) {
    t.match(applyPatch(watched, text), { ok: false, error: [{ message }] })
  }
  const pointers = times(10_000, (index) => `/spec/free/f${index}`)
  for (const text of [pointers.join(), JSON.stringify(pointers)]) {
    t.match(releaseFields({ desired: watched, tree, text, isSensitive: false }, NAMES), {
      ok: false,
      error: [{ message: /longer than 65536 characters/ }],
    })
  }
  for (const text of [pointers.slice(0, 257).join(), JSON.stringify(pointers.slice(0, 257))]) {
    t.match(releaseFields({ desired: watched, tree, text, isSensitive: false }, NAMES), {
      ok: false,
      error: [{ message: /256 pointers/ }],
    })
  }
  t.same(touched, [])
})

const named = (count: number, value = '1') =>
  times(count, (index) => ({ name: `n${index}`, value }))
const pointersInto = (count: number) => times(count, (index) => `/spec/byName/${index}/value`)

t.test('256 pointers into one list look through it once', async (t) => {
  let reads = 0
  const watched = (list: readonly unknown[]) =>
    new Proxy(list, {
      get: (target, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads++
        return Reflect.get(target, name)
      },
    })
  const desired = { ...objectWith({}), spec: { byName: watched(named(2_000)) } }
  const text = pointersInto(256).join()
  const result = releaseFields({ desired, tree, text, isSensitive: false }, NAMES)
  t.ok(result.ok && result.value.released.length === 256)
  t.ok(reads < 4 * 2_000, `${reads}`)
})

t.test('overrides take time by the size of the list that they are about', async (t) => {
  const text = pointersInto(256).join()
  const patch = JSON.stringify(
    times(200, (index) => ({ op: 'replace', path: `/spec/byName/${index}/value`, value: '2' })),
  )
  const annotations = { [PATCH]: patch, [IGNORE_FIELDS]: text }
  const object = objectWith({}, { annotations })
  const ratio = growth(4_000, (size) => {
    const baseline = objectWith({ byName: named(size) })
    return () => plan({ baseline, object, tree, isSensitive: false })
  })
  t.match(
    plan({ baseline: objectWith({ byName: named(300) }), object, tree, isSensitive: false }),
    {
      kind: 'enforce',
      remarks: { length: 20 },
    },
  )
  t.ok(ratio < LINEAR, `${ratio}`)
})

t.test('the way out takes time by the size of the list that was edited', async (t) => {
  for (const wayOut of [patchFor, ignoreFor]) {
    const ratio = growth(2_000, (size) => {
      const baseline = objectWith({ byName: named(size) })
      const edits = named(64, '2')
      const object = objectWith({ byName: [...edits, ...named(size).slice(64)] })
      const drifts = drift(tree, object, baseline)
      return () => wayOut({ object, baseline, tree, drifts })
    })
    t.ok(ratio < LINEAR, `${wayOut.name} ${ratio}`)
  }
})

const reordered: readonly (readonly [
  sort: string,
  spec: (items: readonly string[]) => unknown,
  drifts: number,
])[] = [
  ['an atomic list', (items) => ({ list: items }), 1],
  ['a set', (items) => ({ set: items }), 0],
  ['an associative list', (items) => ({ byName: items.map((name) => ({ name, value: '1' })) }), 0],
  [
    'an associative list whose items are all changed',
    (items) => ({ byName: items.map((name, index) => ({ name, value: `${index}` })) }),
    20_000,
  ],
]

const PADDING = 'x'.repeat(14)
const itemsOf = (count: number) => times(count, (index) => `n${index}-${PADDING}`)

for (const [sort, spec, drifts] of reordered) {
  t.test(`a reordered list is compared in time by its length: ${sort}`, async (t) => {
    const answerTo = (size: number) => {
      const items = itemsOf(size)
      const baseline = objectWith(spec(items))
      const managed = {
        ...managedBy('hco-golden-config'),
        status: { kind: 'active', baseline, digest: '' },
        tree,
      } as const
      const write = { old: baseline, incoming: objectWith(spec(items.toReversed())) }
      // Its baseline is made up: no annotation makes another.
      const made = { ...snapshot, asAnnotated: (one: ManagedObject) => one }
      const options = { enforcement: 'correct', digest: () => '' } as const
      return () => {
        const gathered = gather(write, managed, made, options)
        const verdict = decide(gathered, () => undefined)
        return answerWrite(verdict, gathered)
      }
    }
    const { response, prevented = [] } = answerTo(20_000)()
    t.equal(prevented.length, drifts)
    t.equal(response.patch !== undefined, drifts > 0)
    // However much there is to tell, no more is told than fits.
    t.ok(JSON.stringify(response.warnings ?? []).length < 2_300)
    t.ok((response.auditAnnotations?.pointers ?? '').split(',').length <= 5)
    const ratio = growth(4_000, answerTo)
    t.ok(ratio < LINEAR, `${ratio}`)
  })
}
