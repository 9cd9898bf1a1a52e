import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fengari from 'fengari'
import t from 'tap'
import { parse } from 'yaml'
import { decideTransform } from '../../../src/reconciler/graph/transforms/decide.ts'
import { isMap } from '../../../src/shared/engine/json/object.ts'
import { FAULT_REASONS, isStalled } from '../../../src/shared/graph/fault.ts'
import type { ResourceGraph } from '../../../src/shared/graph/resource-graph.ts'
import type { Transform } from '../../../src/shared/graph/transform.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'

const { lua, lauxlib, lualib, to_luastring } = fengari
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/graph/README.md'), 'utf8')
const [, block = ''] = /```yaml\n(# argocd-cm\.yaml\n.*?)```/s.exec(PAGE) ?? []
const SCRIPT: string =
  parse(block).data['resource.customizations.health.platform.pequod.io_Transform']

/** A value as Lua writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(literal).join(', ')}}`
  if (isMap(value)) {
    const members = Object.entries(value).map(
      ([name, member]) => `["${name}"] = ${literal(member)}`,
    )
    return `{${members.join(', ')}}`
  }
  return JSON.stringify(value)
}

/** What the script of the page makes of an object, as Argo CD runs it. */
function healthOf(object: object) {
  const state = lauxlib.luaL_newstate()
  lualib.luaL_openlibs(state)
  const program = `obj = ${literal(object)}
local health = (function() ${SCRIPT} end)()
return health.status .. ": " .. tostring(health.message)`
  const loaded = lauxlib.luaL_loadstring(state, to_luastring(program))
  const ended = loaded === lua.LUA_OK ? lua.lua_pcall(state, 0, 1, 0) : loaded
  const said = lua.lua_tojsstring(state, -1)
  if (ended !== lua.LUA_OK) throw new Error(said)
  return said
}

const transform: Transform = {
  apiVersion: 'platform.pequod.io/v1alpha1',
  kind: 'Transform',
  metadata: { name: 'shop', namespace: 'web', generation: 2, uid: 'u' },
  spec: { cueRef: { type: 'embedded', ref: 'webservice' }, input: {} },
}
const decided = (more: object, graph?: ResourceGraph) =>
  decideTransform({ transform, graph, now: '2026-01-01T00:00:00Z', digest: sha256, ...more })
const withStatus = (status: object | undefined) => ({ ...transform, ...(status && { status }) })

t.test('Argo CD’s health of each fault is what kstatus makes of it', async (t) => {
  for (const reason of FAULT_REASONS) {
    const fault = { reason, causes: [{ field: 'spec', message: 'it is "wrong"' }] }
    const health = isStalled(fault) ? 'Degraded' : 'Progressing'
    const { status } = decided({ fault })
    t.equal(
      healthOf(withStatus(status)),
      `${reason === 'Suspended' ? 'Suspended' : health}: spec: it is "wrong"`,
      reason,
    )
  }
})

t.test('what is rendered is as healthy as its graph', async (t) => {
  const module = { files: {}, path: '', digest: 'sha256:1' }
  const rendering = { nodes: [], violations: [], warnings: [] }
  const { spec, status } = decided({ module, rendering })
  t.match(healthOf(withStatus(status)), /^Progressing: .* is not applied yet$/)
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '2 objects are ready' }
  const graph = {
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'ResourceGraph',
    metadata: { name: 'shop', namespace: 'web', generation: 1 },
    spec,
    status: { observedGeneration: 1, conditions: [ready] },
  } as unknown as ResourceGraph
  t.equal(
    healthOf(withStatus(decided({ module, rendering }, graph).status)),
    'Healthy: 2 objects are ready',
  )
})

t.test('what nobody has looked at is on its way', async (t) => {
  t.equal(healthOf(transform), 'Progressing: not looked at yet')
  t.equal(healthOf(withStatus({ observedGeneration: 1 })), 'Progressing: not looked at yet')
  t.equal(healthOf(withStatus({ observedGeneration: 2 })), 'Progressing: not looked at yet')
})
