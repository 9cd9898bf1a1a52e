import t from 'tap'
import {
  decideTransform,
  type TransformInput,
} from '../../../../src/reconciler/graph/transforms/decide.ts'
import type { Fault } from '../../../../src/shared/graph/fault.ts'
import type { ResourceGraph } from '../../../../src/shared/graph/resource-graph.ts'
import type { Transform } from '../../../../src/shared/graph/transform.ts'
import type { Module } from '../../../../src/shared/modules/module.ts'

const MODULE: Module = { files: {}, path: '', digest: 'sha256:m' }
const NODE = {
  id: 'one',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'shop' } },
}
const transform = (rest: object = {}) =>
  ({
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'Transform',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', generation: 3 },
    spec: { cueRef: { type: 'inline', ref: 'x' }, input: {} },
    ...rest,
  }) as Transform
const decide = (rest: Partial<TransformInput> = {}) =>
  decideTransform({
    transform: transform(),
    module: MODULE,
    rendering: { nodes: [NODE], violations: [], warnings: [] },
    graph: undefined,
    now: '2026-01-01T00:00:00Z',
    digest: (text) => `d${text.length}`,
    ...rest,
  })
const statusOf = ({ status }: ReturnType<typeof decide>, type: string): string | undefined =>
  status.conditions?.find((condition) => condition.type === type)?.status
const readyOf = ({ status }: ReturnType<typeof decide>) =>
  status.conditions?.find(({ type }) => type === 'Ready')

const stored = (spec: ResourceGraph['spec'], status: object = {}) =>
  ({
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'ResourceGraph',
    metadata: { name: 'web', namespace: 'shop', uid: 'g1', generation: 1 },
    spec,
    status: { observedGeneration: 1, ...status },
  }) as ResourceGraph
const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: '1 object is ready' }

t.test('what is rendered becomes a graph of the Transform', (t) => {
  const decision = decide()
  t.match(decision.spec, {
    sourceRef: { kind: 'Transform', name: 'web', uid: 'u1' },
    deletionPolicy: 'Delete',
    nodes: [NODE],
    metadata: { platformRef: 'sha256:m', renderedAt: '2026-01-01T00:00:00Z' },
  })
  t.equal(statusOf(decision, 'Rendered'), 'True')
  t.match(readyOf(decision), { status: 'False', reason: 'Progressing' })
  t.match(decision.status, { observedGeneration: 3, resolvedCueRef: { digest: 'sha256:m' } })
  t.end()
})

t.test('rendered again to the same, nothing changes', (t) => {
  const first = decide()
  if (!first.spec) throw new Error('nothing was rendered')
  const later = decide({
    graph: stored(first.spec),
    transform: transform({ status: first.status }),
    now: '2026-02-02T00:00:00Z',
  })
  t.same(later.spec, first.spec)
  t.same(later.status.resolvedCueRef, first.status.resolvedCueRef)
  t.end()
})

t.test('it is ready when its graph is, and the graph is about what was rendered now', (t) => {
  const { spec } = decide()
  if (!spec) throw new Error('nothing was rendered')
  t.match(readyOf(decide({ graph: stored(spec, { conditions: [READY] }) })), READY)
  const older = { ...spec, metadata: { ...spec.metadata, renderHash: 'another' } }
  t.match(readyOf(decide({ graph: stored(older, { conditions: [READY] }) })), {
    reason: 'Progressing',
  })
  const unseen = stored(spec, { conditions: [READY], observedGeneration: 0 })
  t.match(readyOf(decide({ graph: unseen })), { reason: 'Progressing' })
  t.end()
})

t.test('what cannot be rendered leaves its graph as it is', (t) => {
  const rows: readonly (readonly [
    Fault['reason'],
    Readonly<Record<string, string | undefined>>,
  ])[] = [
    ['NotEnrolled', { Stalled: undefined, CueFetched: undefined }],
    ['ModuleNotFound', { Stalled: undefined, CueFetched: 'False' }],
    ['InputInvalid', { Stalled: 'True', CueFetched: 'True', Validated: 'False' }],
    ['PolicyViolated', { Stalled: 'True', Validated: 'False', Rendered: undefined }],
    ['GraphInvalid', { Stalled: 'True', Validated: 'True', Rendered: 'False' }],
    ['EvaluatorUnavailable', { Stalled: undefined, Validated: 'False' }],
    ['Suspended', { Stalled: undefined, CueFetched: undefined, Rendered: undefined }],
  ]
  for (const [reason, conditions] of rows) {
    const fault: Fault = { reason, causes: [{ field: 'spec.input.a', message: 'is wrong' }] }
    const isFetched = conditions.CueFetched === 'True' || conditions.Validated !== undefined
    const decision = decideTransform({
      transform: transform(),
      graph: undefined,
      now: '1970-01-01T00:00:00Z',
      digest: () => '',
      ...(isFetched && { module: MODULE }),
      fault,
    })
    t.equal(decision.spec, undefined, reason)
    t.match(readyOf(decision), { status: 'False', reason, message: 'spec.input.a: is wrong' })
    for (const [type, status] of Object.entries(conditions))
      t.equal(statusOf(decision, type), status, `${reason}: ${type}`)
  }
  t.end()
})
