import t from 'tap'

import {
  emptyOptIns,
  optInProblems,
  optIns,
} from '../../../../src/shared/baseline/settings/opt-ins.ts'
import { assetNamed, catalog } from '../facts.ts'

const KEY = 'platform.kubevirt.io/enable-loadaware'
const notes = (value: string | undefined) =>
  emptyOptIns(catalog, value === undefined ? {} : { [KEY]: value }).map(({ note }) => note)

const asset = assetNamed('descheduler-loadaware')
const condition = { type: 'annotation', key: 'profile' } as const
const devices = { type: 'annotation', key: 'devices', format: 'device-ids' } as const

t.test('knows each annotation that asks for an asset, with the values that do', async (t) => {
  t.same(optIns(catalog).get(KEY), { values: ['true'], formats: [] })
  const twice = ['a', 'b', 'a'].map((value) => ({
    ...asset,
    conditions: [{ ...condition, value }],
  }))
  t.same(
    [...optIns(twice)],
    [['platform.kubevirt.io/profile', { values: ['a', 'b'], formats: [] }]],
  )
})

t.test('knows the annotations of sections, and those whose value is of a format', async (t) => {
  const section = { name: 's', description: 'd', install: 'opt-in', maturity: 'beta' } as const
  const sectioned = { ...asset, conditions: [], sections: [{ ...section, conditions: [devices] }] }
  t.same(
    [...optIns([sectioned])],
    [['platform.kubevirt.io/devices', { values: [], formats: ['device-ids'] }]],
  )
})

t.test('a value that asks for nothing is told, off is not', async (t) => {
  for (const value of [undefined, 'true', 'false', '']) t.same(notes(value), [])
  t.same(notes('yes'), [`${KEY} means something only as "true": as "yes" it asks for nothing`])
  t.equal(notes('True').length, 1)
  const [note = ''] = notes(`\u202e${'x'.repeat(1_000)}`)
  t.match(note, /\\u202ex+…/)
})

const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => `10de:${index.toString(16).padStart(4, '0')}`)

const values: readonly (readonly [value: string, problem: RegExp | undefined])[] = [
  ['10de:1eb8', undefined],
  ['10de:1eb8, 8086:0d58', undefined],
  [ids(64).join(','), undefined],
  ['', undefined],
  ['false', undefined],
  ['true', /: "true" is none$/],
  ['10DE:1EB8', /lower-case.*: "10DE:1EB8" is none$/],
  ['10de:1eb8,', /: "" is none$/],
  ['10de:1eb8,10de:1eb8', /^must not name 10de:1eb8 twice$/],
  ['10de:1eb8 ids=x', /is none$/],
  ['10de:1eb8\noptions kvm', /is none$/],
  [ids(65).join(','), /^must not name more than 64 devices$/],
]

for (const [value, problem] of values) {
  t.test(
    `device ids ${JSON.stringify(value).slice(0, 40)} ${problem ? 'are refused' : 'are taken'}`,
    async (t) => {
      const wanted = { ...asset, conditions: [devices] }
      const annotations = { 'platform.kubevirt.io/devices': value }
      t.same(emptyOptIns([wanted], annotations), [])
      const problems = optInProblems([wanted], annotations)
      t.match(
        problems,
        problem
          ? [
              {
                reason: 'InvalidSetting',
                annotation: 'platform.kubevirt.io/devices',
                message: problem,
              },
            ]
          : [],
      )
      t.equal(problems.length, problem ? 1 : 0)
      t.same(optInProblems([wanted], {}), [])
    },
  )
}

t.test('a Secret is named as Kubernetes names it', async (t) => {
  const wanted = {
    ...asset,
    conditions: [{ type: 'annotation', key: 'secret', format: 'secret-name' } as const],
  }
  const problemsOf = (value: string) =>
    optInProblems([wanted], { 'platform.kubevirt.io/secret': value })
  for (const value of ['', 'false', 'a', 'bmc-credentials', 'x'.repeat(253)])
    t.same(problemsOf(value), [])
  for (const value of ['true', 'BMC', '-a', 'a/b', 'x'.repeat(254)])
    t.match(problemsOf(value), [{ message: /^must be the name of a Secret/ }])
})
