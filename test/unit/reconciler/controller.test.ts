import t, { type Test } from 'tap'

import { Controller, type ControllerOptions } from '../../../src/reconciler/baseline/controller.ts'
import type { Outcome } from '../../../src/reconciler/baseline/decide/outcome.ts'
import type { ClusterView } from '../../../src/reconciler/baseline/gather/cluster-view.ts'
import type { Observations } from '../../../src/reconciler/baseline/gather/facts.ts'
import { Ledger } from '../../../src/reconciler/baseline/ledger.ts'
import { ApiError, type Client, type RequestInput } from '../../../src/shared/cluster/client.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { DEDUCED as tree } from '../../../src/shared/engine/merge/merge-tree.ts'
import { fieldsOf } from '../../../src/shared/engine/merge/ownership.ts'
import { FIELD_MANAGER } from '../../../src/shared/engine/overrides/annotations.ts'
import { assetNamed, everythingServed } from '../catalog/facts.ts'

const hcoAsset = assetNamed('hco-golden-config')
const check = assetNamed('node-health-standard')
// It is its admin's, so that it is out of the way.
const hco: KubeObject = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: {
    name: 'kubevirt-hyperconverged',
    namespace: 'kubevirt',
    annotations: { 'platform.kubevirt.io/mode': 'unmanaged' },
  },
}
const observations: Observations = {
  hco,
  nodes: [],
  infrastructure: undefined,
  scheduler: undefined,
  pools: [],
  kubeletConfigs: [],
  machineConfiguration: undefined,
  otherAutopilot: undefined,
  served: new Map(
    Object.entries(everythingServed).map(([key, versions]) => [key, { versions, resource: key }]),
  ),
  schemas: new Map(),
  images: {},
}

type Fault = (method: string, isDryRun: boolean) => ApiError | undefined

function found(object: KubeObject | undefined): KubeObject {
  if (!object) throw new ApiError('GET', 404, {})
  return object
}

/** A controller of one object, and an API server that holds it. */
function cluster(t: Test, options: Partial<ControllerOptions> = {}) {
  const state = {
    live: undefined as KubeObject | undefined,
    version: 1,
    uptime: 0,
    fault: (() => undefined) as Fault,
    asked: [] as string[],
    outcomes: [] as Outcome[],
    errors: [] as Error[],
  }
  const applied = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: {
      ...object.metadata,
      uid: 'u',
      resourceVersion: String(state.version),
      managedFields: [
        { manager: FIELD_MANAGER, operation: 'Apply', fieldsV1: fieldsOf(tree, object) },
      ],
    },
  })
  const send = async (_path: string, { method = 'GET', query, body }: RequestInput = {}) => {
    const isDryRun = query?.dryRun === 'All'
    state.asked.push(isDryRun ? 'dry run' : method)
    const fault = state.fault(method, isDryRun)
    if (fault) throw fault
    if (method === 'GET') return { status: 200, body: found(state.live) }
    state.version += isDryRun ? 0 : 1
    return { status: 200, body: applied(body as KubeObject) }
  }
  let idle = Promise.withResolvers<void>()
  const controller = new Controller({
    client: { send } as unknown as Client,
    catalog: [hcoAsset, check],
    view: {
      watches: { objects: () => [] },
      live: (asset: typeof check) => (asset === hcoAsset ? hco : state.live),
      isObjectKnown: () => true,
      schemaOf: () => ({ tree }),
      hasNamespace: () => true,
      update: (_asset: typeof check, object: KubeObject) => {
        state.live = object
      },
    } as unknown as ClusterView,
    reporter: {
      report: ({ asset, outcome }) => asset === check && state.outcomes.push(outcome),
      failed: (_asset, _hco, error) => state.errors.push(error),
      pending: () => idle.resolve(),
      reset: () => undefined,
      unavailable: () => undefined,
      settings: () => undefined,
    },
    disruptiveChanges: 'hold',
    isObserver: false,
    isLeader: () => true,
    ledger: new Ledger(() => undefined),
    now: () => 0,
    uptime: () => state.uptime,
    healLimits: { capacity: 1, windowMs: 10_000 },
    ...options,
  })
  t.teardown(() => controller.stop())
  /** Does something, and returns what was asked of the server and came of it until there was nothing left to do. */
  const after = async (cause: () => void) => {
    state.asked.length = 0
    state.outcomes.length = 0
    idle = Promise.withResolvers()
    cause()
    await idle.promise
    const outcomes = state.outcomes.map((outcome) =>
      'reason' in outcome ? outcome.reason : outcome.kind,
    )
    return { asked: [...state.asked], outcomes }
  }
  const start = () => after(() => controller.evaluate({ kind: 'ready', observations }))
  const look = () => after(() => controller.touch(check.name))
  const drift = () => {
    const { live } = state
    if (live) state.live = { ...live, spec: { ...(live.spec as object), minHealthy: '7%' } }
  }
  return { controller, state, after, start, look, drift }
}

t.test('an object that is not there is read by name, then created, then left alone', async (t) => {
  const { start, look } = cluster(t)
  t.same(await start(), { asked: ['GET', 'PATCH'], outcomes: ['created'] })
  t.same(await look(), { asked: [], outcomes: ['unchanged'] })
})

t.test('drift costs a dry run and an apply, once', async (t) => {
  const { start, look, drift } = cluster(t)
  await start()
  drift()
  t.same(await look(), { asked: ['dry run', 'PATCH'], outcomes: ['configured'] })
  t.same(await look(), { asked: [], outcomes: ['unchanged'] })
})

t.test('what is put back too often is throttled, without a request', async (t) => {
  const { start, look, drift, state } = cluster(t)
  await start()
  drift()
  t.same((await look()).outcomes, ['configured'])
  drift()
  t.same(await look(), { asked: [], outcomes: ['throttled'] })
  state.uptime = 60_000
  t.same(await look(), { asked: ['dry run', 'PATCH'], outcomes: ['configured'] })
})

t.test('a conflict is read and decided again at once, and no heal is lost to it', async (t) => {
  const { start, look, drift, state } = cluster(t)
  await start()
  drift()
  const drifted = state.live
  let conflicts = 2
  state.fault = (method, isDryRun) => {
    if (method === 'GET') state.live = drifted
    if (method === 'GET' || isDryRun || conflicts-- <= 0) return undefined
    return new ApiError('PATCH', 409, {})
  }
  const { asked, outcomes } = await look()
  const again = ['dry run', 'PATCH', 'GET']
  t.same(asked, [...again, ...again, 'dry run', 'PATCH'])
  t.same(outcomes, ['configured'])
  t.same(state.errors, [])
})

t.test('against a writer who is always faster the queue backs off', async (t) => {
  const { start, look, drift, state } = cluster(t)
  await start()
  drift()
  state.fault = (method) => (method === 'PATCH' ? new ApiError('PATCH', 409, {}) : undefined)
  const { asked, outcomes } = await look()
  t.same(
    asked.filter((what) => what === 'dry run'),
    Array(4).fill('dry run'),
  )
  t.same(outcomes, [])
  t.match(state.errors, [{ status: 409 }])
})

t.test(
  'a field that the schema does not know is the template’s fault, and not retried',
  async (t) => {
    const { start, state } = cluster(t)
    const message = '.spec.x: field not declared in schema'
    state.fault = (method) =>
      method === 'PATCH' ? new ApiError('PATCH', 500, { message }) : undefined
    t.same((await start()).outcomes, ['RenderFailed'])
    t.same(state.errors, [])
  },
)

t.test('ownership is taken back once, and once more after a resync', async (t) => {
  const { start, look, after, controller, state } = cluster(t)
  await start()
  const disown = () => {
    const { live } = state
    const managedFields = [
      { manager: 'somebody', operation: 'Update', fieldsV1: fieldsOf(tree, live ?? hco) },
    ]
    if (live) state.live = { ...live, metadata: { ...live.metadata, managedFields } }
  }
  disown()
  t.same(await look(), { asked: ['PATCH'], outcomes: ['unchanged'] })
  disown()
  t.same(await look(), { asked: [], outcomes: ['unchanged'] })
  t.same((await after(() => controller.resync())).asked, ['PATCH'])
})

t.test('an observer asks the server what it would say, once, and writes nothing', async (t) => {
  const { start, look } = cluster(t, { isObserver: true, isLeader: () => false })
  t.same(await start(), { asked: ['GET', 'dry run'], outcomes: ['Observing'] })
  t.same(await look(), { asked: ['GET'], outcomes: ['Observing'] })
})

t.test(
  'whoever does not lead looks at nothing, nor does anybody without an evaluation',
  async (t) => {
    const { controller, state } = cluster(t, { isLeader: () => false })
    controller.evaluate({ kind: 'ready', observations })
    await controller.reconcile(check.name)
    const another = cluster(t)
    await another.controller.reconcile(check.name)
    controller.evaluate({ kind: 'unavailable', reason: 'NotYet' })
    t.equal(controller.evaluation, undefined)
    t.same([...state.asked, ...another.state.asked], [])
  },
)
