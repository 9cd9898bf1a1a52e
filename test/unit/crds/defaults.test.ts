import t from 'tap'
import type { Schema } from '../../../src/shared/engine/merge/tree-of.ts'
import { compareWithDefaults } from '../../../tools/crds/defaults/compare.ts'
import { type Judged, judgeValues } from '../../../tools/crds/defaults/judge.ts'
import { reportOnValues } from '../../../tools/crds/defaults/report.ts'
import { definitionsOf } from '../../../tools/generate/definitions.ts'
import { catalog } from '../baseline/facts.ts'

/** The schema of an object whose spec has these fields. */
const specOf = (properties: Readonly<Record<string, Schema>>, spec: Schema = {}): Schema => ({
  properties: { spec: { properties, ...spec } },
})
const number = (standard: number): Schema => ({ type: 'integer', default: standard })
const map: Schema = { additionalProperties: number(1) }
const conditions = [{ type: 'Ready', status: 'False' }]

interface Case {
  readonly says: string
  readonly spec: unknown
  readonly schema: Schema
  readonly earlier?: readonly Schema[]
  /** Verdicts by pointer. */
  readonly found: Readonly<Record<string, 'equal' | 'older'>>
}

const cases: readonly Case[] = [
  {
    says: 'the default',
    spec: { a: 1 },
    schema: specOf({ a: number(1) }),
    found: { '/spec/a': 'equal' },
  },
  {
    says: 'the default, now and before',
    spec: { a: 1 },
    schema: specOf({ a: number(1) }),
    earlier: [specOf({ a: number(1) })],
    found: { '/spec/a': 'equal' },
  },
  {
    says: 'a default that is false',
    spec: { a: false },
    schema: specOf({ a: { default: false } }),
    found: { '/spec/a': 'equal' },
  },
  {
    says: 'a value of our own',
    spec: { a: 7 },
    schema: specOf({ a: number(1) }),
    earlier: [specOf({ a: number(2) })],
    found: {},
  },
  {
    says: 'the default of an earlier release',
    spec: { a: 2 },
    schema: specOf({ a: number(1) }),
    earlier: [specOf({ a: number(3) }), specOf({ a: number(2) })],
    found: { '/spec/a': 'older' },
  },
  {
    says: 'the default of a later release, which is not looked at',
    spec: { a: 2 },
    schema: specOf({ a: number(1) }),
    found: {},
  },
  {
    says: 'a field that has lost its default',
    spec: { a: 1 },
    schema: specOf({ a: {} }),
    earlier: [specOf({ a: number(1) })],
    found: {},
  },
  {
    says: 'a field that the schema does not know',
    spec: { b: 1 },
    schema: specOf({ a: number(1) }),
    found: {},
  },
  {
    says: 'what the default of a map around it has',
    spec: { a: 1, b: 2 },
    schema: specOf({ a: {}, b: {} }, { default: { a: 1, b: 1 } }),
    earlier: [specOf({ a: {}, b: {} }, { default: { b: 2 } })],
    found: { '/spec/a': 'equal', '/spec/b': 'older' },
  },
  {
    says: 'its own default rather than that of a map around it',
    spec: { a: 1 },
    schema: specOf({ a: number(2) }, { default: { a: 1 } }),
    found: {},
  },
  {
    says: 'a map of any keys',
    spec: { 'a/b': { x: 1, y: 2 } },
    schema: specOf({ 'a/b': map }),
    found: { '/spec/a~1b/x': 'equal' },
  },
  {
    says: 'a list as a whole',
    spec: { same: conditions, other: [...conditions, ...conditions] },
    schema: specOf({ same: { default: conditions }, other: { default: conditions } }),
    found: { '/spec/same': 'equal' },
  },
  {
    says: 'a field whose name every map answers to',
    spec: { constructor: 1 },
    schema: specOf({}, { default: {} }),
    found: {},
  },
]

for (const { says, spec, schema, earlier = [], found } of cases) {
  t.test(`compares ${says}`, async (t) => {
    const findings = compareWithDefaults({ kind: 'A', spec }, schema, earlier)
    t.strictSame(
      Object.fromEntries(findings.map(({ pointer, verdict }) => [pointer, verdict])),
      found,
    )
  })
}

const ours = judgeValues(catalog)

t.test('no value of ours is the default of an older release', async (t) => {
  const { lines, isFailure } = reportOnValues(ours)
  t.notOk(isFailure, lines.join('\n'))
})

t.test('each version of the HyperConverged is compared with each release', async (t) => {
  const judged = ours.filter(({ asset }) => asset === 'hco-golden-config')
  t.strictSame(
    judged.map(({ apiVersion, file }) => [apiVersion, file.split('/')[1]]),
    [
      ['hco.kubevirt.io/v1', 'clusters'],
      ['hco.kubevirt.io/v1', 'crds'],
      ['hco.kubevirt.io/v1beta1', 'clusters'],
      ['hco.kubevirt.io/v1beta1', 'crds'],
    ],
  )
  for (const { findings } of judged) t.match(findings, [{ verdict: 'equal' }])
})

t.test('a timeout that HCO 1.19 has made shorter is found', async (t) => {
  const [today, before] = definitionsOf('hco.kubevirt.io').filter(
    ({ kind }) => kind === 'HyperConverged',
  )
  const liveMigrationConfig = { completionTimeoutPerGiB: 150, progressTimeout: 150 }
  const specs = {
    v1: { virtualization: { liveMigrationConfig } },
    v1beta1: { liveMigrationConfig },
  }
  for (const [version, spec] of Object.entries(specs)) {
    const [schema = {}, earlier = {}] = [today, before].map(
      (release) => release?.versions.find(({ name }) => name === version)?.schema,
    )
    t.match(compareWithDefaults({ spec }, schema, [earlier]), [
      { verdict: 'older', value: 150, standard: 20 },
      { verdict: 'equal', value: 150 },
    ])
    t.match(compareWithDefaults({ spec }, earlier, []), [
      { verdict: 'equal' },
      { verdict: 'equal' },
    ])
  }
})

t.test('says which values those are, and fails for those that are older', async (t) => {
  const judged: Judged = {
    asset: 'a',
    apiVersion: 'example.com/v1',
    file: 'test/crds/a.yaml',
    hasDefaults: true,
    findings: [{ verdict: 'equal', pointer: '/spec/a', value: 'x', standard: 'x' }],
  }
  const older: Judged = {
    ...judged,
    asset: 'b',
    findings: [{ verdict: 'older', pointer: '/spec/b', value: 150, standard: 20 }],
  }
  const mute: Judged = { ...judged, asset: 'c', hasDefaults: false, findings: [] }
  t.strictSame(reportOnValues([judged, mute]), {
    lines: [
      'a, example.com/v1, test/crds/a.yaml:',
      '  EQUAL /spec/a "x"',
      'no defaults known: c',
      '1 values equal to the default, 0 older than it',
    ],
    isFailure: false,
  })
  t.match(reportOnValues([judged, older]), {
    lines: [
      'a, example.com/v1, test/crds/a.yaml:',
      '  EQUAL /spec/a "x"',
      'b, example.com/v1, test/crds/a.yaml:',
      '  OLDER /spec/b 150: the default is 20 now: drop it',
      '1 values equal to the default, 1 older than it',
    ],
    isFailure: true,
  })
})
