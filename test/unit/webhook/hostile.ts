import assert from 'node:assert/strict'
import {
  DISABLED_RESOURCES,
  IGNORE_FIELDS,
  PATCH,
  PREFIX,
} from '../../../src/shared/baseline/annotations.ts'
import { createStatusDecider } from '../../../src/shared/baseline/asset-status.ts'
import { detectHardware, holdHardware } from '../../../src/shared/baseline/facts/hardware.ts'
import { hcoFactsOf } from '../../../src/shared/baseline/facts/hco-facts.ts'
import { applyPatch, plan } from '../../../src/shared/baseline/planner.ts'
import { isExcluded, parseExclusions } from '../../../src/shared/baseline/settings/exclusions.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { parseState, type State, stateData, UNKNOWN } from '../../../src/shared/baseline/state.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { createApp } from '../../../src/webhook/server/app.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../../src/webhook/server/review.ts'
import { catalog } from '../baseline/facts.ts'
import { objectWith, tree } from '../engine/merge/schemas.ts'
import {
  baselineOf,
  edited,
  facts,
  handlersWith,
  type Json,
  managedBy,
  requestFor,
  snapshotOf,
} from './known.ts'

/** A sentence, and what must hold for it; it throws where that does not. */
type Check = readonly [says: string, check: () => Promise<void> | void]

/** Each member of each prototype, and what is behind it. */
const builtIn = () =>
  [Object, Array, Function, String, Map, Promise].flatMap(({ prototype }) =>
    Reflect.ownKeys(prototype).flatMap((name) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(prototype, name) ?? {}
      return [name, value, get, set]
    }),
  )

const BUILT_IN = builtIn()

/** Every prototype is as it was when the program started, and nothing has a member that nobody gave it. */
function assertUntouched(): void {
  assert.deepEqual(Object.keys(Object.prototype), [])
  const found = builtIn()
  assert.ok(
    found.length === BUILT_IN.length && found.every((it, at) => Object.is(it, BUILT_IN[at])),
  )
  for (const name of ['allowed', 'isAdmin', 'dryRun', 'polluted', 'a', 'x'])
    assert.equal(name in {}, false, name)
  assert.equal(typeof {}.toString, 'function')
  assert.equal(`${{}}`, '[object Object]')
}

/** Members, as JSON text, that become something else in careless code. */
const POISONS = [
  '"__proto__":{"allowed":true,"dryRun":true,"isAdmin":1,"name":"other"}',
  '"__proto__":null',
  '"constructor":{"prototype":{"isAdmin":1}}',
  '"prototype":{"isAdmin":1}',
  '"hasOwnProperty":1',
  '"toString":null',
  '"valueOf":{}',
  '"then":{"allowed":true}',
  '"toJSON":{"allowed":true}',
]
/** The same where every value has to be text. */
const TEXT_POISONS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'then',
  'toJSON',
].map((name) => `${JSON.stringify(name)}:"polluted"`)

const hco = baselineOf('hco-golden-config')
const drifted = edited(hco, {
  annotations: { team: 'virt' },
  spec: (spec) => {
    spec.uninstallStrategy = 'RemoveWorkloads' as unknown as Json
  },
})
const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: requestFor('UPDATE', {
    object: drifted,
    oldObject: edited(hco, { annotations: { team: 'virt' } }),
  }),
})

/** Said on the command line where the server's own JSON parser cannot run. */
export const NO_SERVER = '--no-server'

// Each request is judged as the first that ever came.
const app = createApp({
  prefix: PREFIX,
  routes: {
    '/mutate': (request) => handlersWith().mutate(request),
    '/validate': (request) => handlersWith().validate(request),
  },
  onError: (error) => {
    throw error
  },
})

const answerTo = async (text: string, path = '/mutate'): Promise<AdmissionResponse> => {
  if (process.argv.includes(NO_SERVER)) {
    const { mutate, validate } = handlersWith()
    const { request } = JSON.parse(text) as { request: AdmissionRequest }
    const response = path === '/mutate' ? mutate(request) : validate(request)
    return JSON.parse(JSON.stringify({ uid: request.uid, ...response }))
  }
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json' },
    payload: text,
  })
  assert.equal(statusCode, 200, body)
  return (JSON.parse(body) as { response: AdmissionResponse }).response
}

/** Where in the review a member is put: before this text, in every place where it is. */
const PLACES: readonly (readonly [place: string, before: string, poisons: readonly string[]])[] = [
  ['the review', '"apiVersion":"admission', POISONS],
  ['the request', '"uid":', POISONS],
  ['the kind', '"group":', POISONS],
  ['the user', '"username":', POISONS],
  ['the object', '"apiVersion":"hco', POISONS],
  ['metadata', '"name":"kubevirt', POISONS],
  ['labels', '"platform.kubevirt.io/managed-by":', TEXT_POISONS],
  ['annotations', '"team":', TEXT_POISONS],
  ['the spec', '"uninstallStrategy":', POISONS],
  ['a managed map', '"allowAutoConverge":', POISONS],
]

const inReviews: readonly Check[] = PLACES.map(([place, before, poisons]) => [
  `a review is judged the same whatever members ${place} has`,
  async () => {
    assert.ok(REVIEW.includes(before), `the review has ${before}`)
    const expected = await answerTo(REVIEW)
    assert.equal(expected.warnings?.length, 2)
    for (const poison of poisons) {
      const poisoned = REVIEW.replaceAll(before, `${poison},${before}`)
      assert.deepEqual(await answerTo(poisoned), expected, poison)
      assertUntouched()
    }
  },
])

const named: Check = [
  'an object whose name, kind or namespace code has too is none of ours',
  async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const [from, to] of [
        ['"name":"kubevirt-hyperconverged"', `"name":"${name}"`],
        ['"kind":"HyperConverged"', `"kind":"${name}"`],
        ['"group":"hco.kubevirt.io"', `"group":"${name}"`],
        ['"namespace":"openshift-cnv"', `"namespace":"${name}"`],
      ] as const) {
        for (const path of ['/mutate', '/validate']) {
          const answer = await answerTo(REVIEW.replaceAll(from, to), path)
          assert.deepEqual(answer, { uid: 'c0ffee', allowed: true }, to)
        }
        assertUntouched()
      }
    }
  },
]

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
]

const annotated: Check = [
  'annotations of the HyperConverged under names that code has too change no fact and no baseline',
  async () => {
    const statuses = createStatusDecider(catalog, sha256)
    const { settings } = readSettings({})
    const digests = (hcoFacts: State['facts']['hco']) =>
      [...statuses({ ...facts, hco: hcoFacts }, settings).values()].map((status) =>
        status.kind === 'active' ? status.digest : status.kind,
      )
    const plain = hcoFactsOf(catalog, edited(hco, { annotations: {} }))
    for (const key of KEYS) {
      const annotations = JSON.parse(`{${JSON.stringify(`platform.kubevirt.io/${key}`)}:"true"}`)
      const found = hcoFactsOf(catalog, edited(hco, { annotations }))
      assert.equal(Object.getPrototypeOf(found.annotations), Object.prototype)
      assert.deepEqual(digests(found), digests(plain), key)
      assert.deepEqual(readSettings(annotations), readSettings({}), key)
      const answer = await answerTo(
        REVIEW.replace('"team":"virt"', `"platform.kubevirt.io/${key}":"true","team":"virt"`),
      )
      const { patch } = await answerTo(REVIEW)
      assert.equal(answer.patch, patch, key)
      assert.match(answer.warnings?.join() ?? '', /means nothing here: (did you mean|remove it)/)
      assertUntouched()
    }
  },
]

const EXCLUSIONS = [
  '- __proto__\n- constructor\n- toString',
  '{"__proto__": {"asset": "*"}}',
  '[{"__proto__": {"kind": "*", "name": "*"}}]',
  '[{"kind": "*", "name": "__proto__", "__proto__": {"name": "*"}}]',
  '- {kind: constructor, name: __proto__}',
  '- {kind: MachineConfig, name: toString, namespace: __proto__}',
  '- <<: {__proto__: {kind: "*", name: "*"}}',
  '- &a {kind: x, name: y}\n- {<<: *a, __proto__: {name: "*"}}',
  '- !!js/function "function () {}"',
  '- !!set {__proto__, a}',
]

const excluded: Check = [
  'disabled-resources that name what code has too switch nothing off',
  () => {
    for (const text of EXCLUSIONS) {
      const parsed = parseExclusions(text)
      const exclusions = parsed.ok ? parsed.value : []
      for (const asset of catalog) assert.equal(isExcluded(exclusions, asset), false, text)
      // What is stored and invalid keeps its last valid meaning.
      const stated = readSettings(
        { [DISABLED_RESOURCES]: text },
        { valid: { [DISABLED_RESOURCES]: '[]' }, neverValid: [] },
      )
      for (const asset of catalog)
        assert.equal(isExcluded(stated.settings.exclusions, asset), false, text)
      assertUntouched()
    }
  },
]

const STATE_POISONS: readonly (readonly [part: string, poisons: readonly string[]])[] = [
  ['facts.json', POISONS],
  [
    'hardware.json',
    ['__proto__', 'constructor', 'toString'].map((name) => `"${name}":{"value":true}`),
  ],
  ['settings.json', TEXT_POISONS],
  ['baselines.json', TEXT_POISONS],
  ['applied.json', TEXT_POISONS],
  ['registered.json', TEXT_POISONS],
  ['unregistered.json', ['__proto__', 'constructor', 'toString'].map((name) => `"${name}":1`)],
]

const published: Check = [
  'the state is read the same whatever members its parts have',
  () => {
    const { baselines, applied } = stateOfSnapshot()
    const state: State = {
      ...UNKNOWN,
      settings: {},
      hardware: holdHardware(undefined, detectHardware([]), 0),
      facts,
      baselines,
      applied,
    }
    const data = stateData(state)
    const verdicts = (found: State) => {
      const known = snapshotOf(found)
      return ['hco-golden-config', 'swap-enable'].map((asset) => {
        const object = edited(baselineOf(asset), { spec: () => ({}) })
        const request = requestFor('UPDATE', { object, oldObject: baselineOf(asset) })
        return handlersWith(known).mutate(request)
      })
    }
    const expected = verdicts(state)
    for (const [part, poisons] of STATE_POISONS) {
      for (const poison of poisons) {
        const text = (data[part] ?? '').replace(
          '{',
          data[part] === '{}' ? `{${poison}` : `{${poison},`,
        )
        const found = parseState({ ...data, [part]: text })
        assert.ok(found, `${part} with ${poison}`)
        assert.deepEqual(verdicts(found), expected, `${part} with ${poison}`)
        assertUntouched()
      }
    }
    // A prototype never stands in for a part that is missing.
    const inherited = `{"__proto__":${data['facts.json']}}`
    assert.equal(parseState({ ...data, 'facts.json': inherited }), undefined)
    assert.equal(parseState(JSON.parse(`{"__proto__":${JSON.stringify(data)}}`)), undefined)
    assertUntouched()
  },
]

function stateOfSnapshot(): Pick<State, 'baselines' | 'applied'> {
  const active = ['hco-golden-config', 'swap-enable'].map((asset) => {
    const { status } = managedBy(asset)
    return [asset, status.kind === 'active' ? status.digest : ''] as const
  })
  return { baselines: Object.fromEntries(active), applied: {} }
}

const POINTERS = [
  '/__proto__',
  '/__proto__/toString',
  '/constructor/prototype/x',
  '/constructor/constructor',
  '/spec/__proto__/x',
  '/spec/prototype',
  '/spec/free/__proto__',
  '/spec/list/constructor',
]

const pointed: Check = [
  'no pointer leads to a prototype',
  () => {
    const object = objectWith({ free: {}, list: ['a'] })
    for (const pointer of POINTERS) {
      const operations = [
        { op: 'add', path: pointer, value: 1 },
        { op: 'remove', path: pointer },
        { op: 'replace', path: pointer, value: 1 },
        { op: 'test', path: pointer, value: null },
        { op: 'copy', from: pointer, path: '/spec/free/x' },
        { op: 'move', from: pointer, path: '/spec/free/x' },
        { op: 'copy', from: '/spec/list', path: pointer },
        { op: 'move', from: '/spec/list', path: pointer },
      ]
      for (const operation of operations) {
        const result = applyPatch(object, JSON.stringify([operation]))
        assert.equal(result.ok, false, JSON.stringify(operation))
        assertUntouched()
      }
      for (const text of [pointer, JSON.stringify([pointer])]) {
        const annotations = { [IGNORE_FIELDS]: text }
        const carrier = objectWith({}, { annotations })
        const decision = plan({ baseline: object, object: carrier, tree, isSensitive: false })
        assert.equal(decision.kind, 'hold', text)
        assertUntouched()
      }
    }
  },
]

const similar: Check = [
  'a name that only looks like a prototype is a name',
  () => {
    const baseline = objectWith({ free: {} })
    for (const name of [
      '~0__proto__',
      '__proto',
      'constructors',
      'toString',
      'hasOwnProperty',
      'then',
    ]) {
      const path = `/spec/free/${name}`
      const text = JSON.stringify([{ op: 'add', path, value: { polluted: 1 } }])
      const carrier = objectWith({}, { annotations: { [PATCH]: text } })
      const decision = plan({ baseline, object: carrier, tree, isSensitive: false })
      assert.equal(decision.kind, 'enforce', path)
      assertUntouched()
    }
  },
]

const valued: Check = [
  'no value of a patch brings a prototype along',
  () => {
    for (const value of [
      '{"__proto__":{"polluted":1}}',
      '[{"a":{"__proto__":{"polluted":1}}}]',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"\\u005f_proto__":{"polluted":1}}',
    ]) {
      for (const op of ['add', 'replace', 'test']) {
        const text = `[{"op":"${op}","path":"/spec/free","value":${value}}]`
        assert.equal(applyPatch(objectWith({ free: {} }), text).ok, false, text)
        assertUntouched()
      }
    }
  },
]

/** What must hold whatever names the JSON has that comes from outside, and with which flags Node runs. */
export const checks: readonly Check[] = [
  ...inReviews,
  named,
  annotated,
  excluded,
  published,
  pointed,
  similar,
  valued,
]

if (import.meta.main) for (const [, check] of checks) await check()
