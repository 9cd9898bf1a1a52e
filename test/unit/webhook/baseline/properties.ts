import fc from 'fast-check'
import jsonPatch, { type Operation } from 'fast-json-patch'
import t from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  ENFORCEMENT,
  IGNORE_FIELDS,
  MANAGED_BY,
  MODE,
  PATCH,
  PREFIX,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { drift } from '../../../../src/shared/engine/merge/merge.ts'
import type { PromptHandler } from '../../../../src/webhook/server/app.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../../../src/webhook/server/review.ts'
import { Refused } from '../../../../src/webhook/server/review.ts'
import { deepFreeze, seed } from '../../engine/merge/schemas.ts'
import { runs } from '../../runs.ts'
import { baselineOf, handlersWith, managedBy, requestFor } from '../known.ts'

const ASSETS = ['hco-golden-config', 'swap-enable', 'node-health-standard', 'metallb'] as const

const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom('x', null, 0, {}, []))

const pointer = fc
  .array(
    fc.constantFrom(
      'spec',
      'uninstallStrategy',
      'liveMigrationConfig',
      'config',
      '0',
      'metadata',
      'labels',
      'x~1y',
    ),
    { maxLength: 4 },
  )
  .map((tokens) => tokens.map((token) => `/${token}`).join(''))

const operations = fc.array(
  fc.record(
    { op: fc.constantFrom('add', 'remove', 'replace', 'set'), path: pointer, value: anyValue },
    { requiredKeys: ['op', 'path'] },
  ),
  { maxLength: 3 },
)

const annotations = fc.dictionary(
  fc.constantFrom(
    PATCH,
    IGNORE_FIELDS,
    MODE,
    RECONCILE_PAUSED,
    AUTOPILOT,
    DISABLED_RESOURCES,
    ENFORCEMENT,
    `${PREFIX}mod`,
    'team',
  ),
  fc.oneof(
    fc.string(),
    pointer,
    operations.map((list) => JSON.stringify(list)),
    fc.constantFrom('true', 'false', 'observe', 'unmanaged', 'deny', 'hco', '- swap-*', '[]'),
  ),
  { maxKeys: 3, noNullPrototype: true },
)

/** A copy of the value in which some members are gone or are something else. */
function mangled(value: unknown, choices: () => unknown): unknown {
  if (typeof value !== 'object' || value === null) return choices() ?? value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const choice = choices()
    if (choice === undefined) return [[name, mangled(member, choices)] as const]
    return choice === null ? [] : [[name, choice] as const]
  })
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}

const anyChoice = fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, anyValue)

/** An object of an asset as anybody might write it: other content, labels and annotations, the same identity. */
const writeOf = (asset: string): fc.Arbitrary<KubeObject> =>
  fc
    .record({
      choices: fc.array(anyChoice, { minLength: 40, maxLength: 40 }),
      metadata: fc.record(
        {
          annotations,
          labels: fc.dictionary(fc.constantFrom(MANAGED_BY, 'a'), fc.constantFrom('x', 'y'), {
            noNullPrototype: true,
          }),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ choices, metadata }) => {
      const baseline = baselineOf(asset)
      let next = 0
      const spec = mangled(baseline.spec, () => choices[next++ % choices.length])
      return deepFreeze({ ...baseline, metadata: { ...baseline.metadata, ...metadata }, spec })
    })

const anyUpdate = fc.constantFrom(...ASSETS).chain((asset) =>
  fc.record({
    asset: fc.constant(asset),
    object: writeOf(asset),
    oldObject: fc.oneof(fc.constant(baselineOf(asset)), writeOf(asset)),
  }),
)

const patchedBy = (response: AdmissionResponse, object: KubeObject): KubeObject => {
  const { patch } = response
  if (patch === undefined) return object
  const list = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]
  return jsonPatch.applyPatch(object, list, true, false).newDocument
}

const answerTo = (handler: PromptHandler, request: AdmissionRequest) => {
  try {
    return handler(request)
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

t.test('answers any JSON, or takes it for a bad review', async (t) => {
  const { mutate, validate } = handlersWith()
  const base = requestFor('UPDATE', { object: baselineOf('hco-golden-config') })
  const anyObject = fc.oneof(
    fc.jsonValue(),
    fc.record({ apiVersion: anyValue, kind: anyValue, metadata: anyValue }),
    fc
      .record({
        metadata: fc.dictionary(
          fc.constantFrom('name', 'namespace', 'labels', 'annotations', 'deletionTimestamp'),
          anyValue,
        ),
        spec: anyValue,
      })
      .map(({ metadata, spec }) => ({
        ...baselineOf('hco-golden-config'),
        metadata: { ...baselineOf('hco-golden-config').metadata, ...metadata },
        spec,
      })),
  )
  const answers = { given: 0, none: 0 }
  fc.assert(
    fc.property(
      fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
      anyObject,
      anyObject,
      fc.boolean(),
      (operation, object, oldObject, isInformed) => {
        const request = deepFreeze({ ...base, operation, object, oldObject })
        const uninformed = handlersWith(null)
        for (const handler of isInformed
          ? [mutate, validate]
          : [uninformed.mutate, uninformed.validate]) {
          const response = answerTo(handler, request)
          if (response === undefined) answers.none++
          else answers.given++
          t.ok(response === undefined || typeof response.allowed === 'boolean')
        }
      },
    ),
    { seed, numRuns: runs(200) },
  )
  t.ok(answers.given > 20 && answers.none > 20, JSON.stringify(answers))
})

t.test('never changes who an object is, nor the object that it was given', async (t) => {
  const verdicts = new Map<string, number>()
  const { mutate, counted } = handlersWith()
  fc.assert(
    fc.property(anyUpdate, ({ object, oldObject }) => {
      const response = mutate(requestFor('UPDATE', { object, oldObject }))
      const stored = patchedBy(response, object)
      const who = ({ apiVersion, kind, metadata }: KubeObject) => [
        apiVersion,
        kind,
        metadata.namespace,
        metadata.name,
        metadata.annotations,
      ]
      t.strictSame(who(stored), who(object))
    }),
    { seed, numRuns: runs(200) },
  )
  for (const { verdict } of counted) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
  for (const verdict of ['allowed', 'corrected', 'denied'])
    t.ok((verdicts.get(verdict) ?? 0) > 3, verdict)
})

t.test(
  'changes nothing when it corrects what it has corrected, and has the last look agree',
  async (t) => {
    let corrections = 0
    fc.assert(
      fc.property(anyUpdate, ({ object, oldObject }) => {
        const { mutate, validate } = handlersWith()
        const response = mutate(requestFor('UPDATE', { object, oldObject }))
        if (!response.patch) return
        corrections++
        const corrected = requestFor('UPDATE', {
          object: deepFreeze(patchedBy(response, object)),
          oldObject,
        })
        t.equal(mutate(corrected).patch, undefined)
        t.ok(validate(corrected).allowed)
      }),
      { seed, numRuns: runs(100) },
    )
    t.ok(corrections > 10)
  },
)

t.test('creates an object in its desired state, whatever was sent', async (t) => {
  const { mutate } = handlersWith()
  fc.assert(
    fc.property(anyUpdate, ({ asset, object }) => {
      const plain = deepFreeze({ ...object, metadata: { ...object.metadata, annotations: {} } })
      const { tree } = managedBy(asset)
      if (!tree) throw new Error(`the asset ${asset} has a schema`)
      const stored = patchedBy(mutate(requestFor('CREATE', { object: plain })), plain)
      t.strictSame(drift(tree, stored, baselineOf(asset)), [])
    }),
    { seed, numRuns: runs(60) },
  )
})

t.test('never corrects a field that the write leaves as it was', async (t) => {
  const { mutate } = handlersWith()
  fc.assert(
    fc.property(anyUpdate, ({ object }) => {
      t.strictSame(mutate(requestFor('UPDATE', { object, oldObject: object })).patch, undefined)
    }),
    { seed, numRuns: runs(60) },
  )
})
