import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../..')
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')

/** The lines that our linter finds fault with, by the path of their file. */
function lint(folder: string, files: Readonly<Record<string, readonly string[]>>) {
  cpSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${lines.join('\n')}\n`)
  }
  const rules = ['noRestrictedImports', 'noRestrictedGlobals'].map((name) => `--only=style/${name}`)
  const { stdout } = spawnSync(
    process.execPath,
    [BIOME, 'lint', ...rules, '--reporter=github', '--max-diagnostics=none', 'src'],
    { cwd: folder, encoding: 'utf8' },
  )
  const found = [...stdout.matchAll(/^::error .*?file=.*?(src\/[^,]+),line=(\d+)/gm)]
  return (path: string): readonly number[] => {
    const lines = found.filter(([, file]) => file === path).map(([, , line]) => Number(line))
    return [...new Set(lines)].sort((one, other) => one - other)
  }
}

const importing = (path: string) => `import '${path}'`

const SYSTEMS = ['baseline', 'graph', 'environments', 'sync']
const of = (root: string, names: readonly string[]) =>
  names.map((name) => `../../${root}/${name}/x.ts`)
const PURE = [
  ...['node:fs', 'node:timers/promises', 'fastify', 'undici', 'pino', 'prom-client'],
  ...['@kubernetes/client-node', '../../shared/cluster/client.ts', '../../shared/ops/log.ts'],
]
const CLI = '../../cli/options.ts'
const TOOLS = '../../../tools/dev/dev.ts'
const WEBHOOK = '../../webhook/server/app.ts'
const RECONCILER = '../../reconciler/manager/manager.ts'
const OTHERS = SYSTEMS.slice(1)
const OTHERS_OF_GRAPH = SYSTEMS.filter((system) => system !== 'graph')

/** For each room, what it must not import and what it may. */
const ROOMS: Readonly<Record<string, { wrong: readonly string[]; right: readonly string[] }>> = {
  'src/shared/engine': {
    wrong: [...PURE, ...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['./json/object.ts', 'jsonpointer'],
  },
  'src/shared/graph-engine': {
    wrong: [...PURE, ...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['../engine/json/object.ts', './order.ts'],
  },
  'src/shared/baseline': {
    wrong: [...PURE, ...of('shared', OTHERS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['../engine/plan.ts', './catalog/catalog.ts', 'yaml'],
  },
  'src/shared/api': {
    wrong: [...PURE, ...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['../engine/plan.ts', '@sinclair/typebox'],
  },
  'src/shared/graph': {
    wrong: [...PURE, ...of('shared', OTHERS_OF_GRAPH), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['../engine/plan.ts', '../graph-engine/node.ts', '../modules/module.ts'],
  },
  'src/shared/cluster': {
    wrong: [...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['node:fs', 'undici', '../engine/plan.ts', '../ops/log.ts'],
  },
  'src/shared/modules': {
    wrong: [...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['node:child_process', 'lru-cache', '../engine/plan.ts', '../ops/digest.ts'],
  },
  'src/shared/ops': {
    wrong: [...of('shared', SYSTEMS), WEBHOOK, RECONCILER, CLI, TOOLS],
    right: ['node:fs', 'pino', '../engine/plan.ts'],
  },
  'src/webhook/server': {
    wrong: [...of('shared', SYSTEMS), ...of('webhook', SYSTEMS), RECONCILER, CLI, TOOLS],
    right: ['fastify', '../../shared/cluster/client.ts'],
  },
  'src/webhook/baseline': {
    wrong: [...of('webhook', OTHERS), RECONCILER, CLI, TOOLS],
    right: ['../server/app.ts', '../../shared/baseline/names.ts'],
  },
  'src/webhook/graph': {
    wrong: [...of('webhook', OTHERS_OF_GRAPH), RECONCILER, CLI, TOOLS],
    right: ['../server/app.ts', '../../shared/graph/names.ts'],
  },
  'src/reconciler/manager': {
    wrong: [...of('shared', SYSTEMS), ...of('reconciler', SYSTEMS), WEBHOOK, CLI, TOOLS],
    right: ['../../shared/cluster/client.ts'],
  },
  'src/reconciler/admission': {
    wrong: [...of('shared', SYSTEMS), ...of('reconciler', SYSTEMS), WEBHOOK, CLI, TOOLS],
    right: ['../manager/manager.ts', '../../shared/cluster/client.ts'],
  },
  'src/reconciler/executor': {
    wrong: [...of('shared', SYSTEMS), ...of('reconciler', SYSTEMS), WEBHOOK, CLI, TOOLS],
    right: ['../../shared/graph-engine/node.ts', '../../shared/cluster/client.ts'],
  },
  'src/reconciler/graph': {
    wrong: [...of('reconciler', OTHERS_OF_GRAPH), WEBHOOK, CLI, TOOLS],
    right: ['../manager/manager.ts', '../executor/executor.ts', '../../shared/graph/names.ts'],
  },
  'src/reconciler/baseline': {
    wrong: [...of('reconciler', OTHERS), WEBHOOK, CLI, TOOLS],
    right: ['../manager/manager.ts', '../../shared/baseline/names.ts'],
  },
  'src/cli': {
    wrong: [TOOLS],
    right: ['../webhook/baseline/run.ts', '../reconciler/baseline/run.ts'],
  },
}

const IMPURE = [
  'export const a = () => Date.now()',
  'export const b = () => setTimeout(() => undefined, 1)',
  'export const c = () => performance.now()',
  'export const d = () => process.argv',
  "export const e = () => fetch('x')",
]
const PURE_ROOMS = [
  'src/shared/api',
  'src/shared/engine',
  'src/shared/graph-engine',
  'src/shared/baseline',
  'src/shared/graph',
]

t.test('each room imports only what it may, and pure rooms know no clock', async (t) => {
  const rooms = Object.entries(ROOMS)
  const faultsIn = lint(t.testdir(), {
    ...Object.fromEntries(
      rooms.map(([room, { wrong, right }]) => [
        `${room}/imports.ts`,
        [...wrong, ...right].map(importing),
      ]),
    ),
    ...Object.fromEntries(PURE_ROOMS.map((room) => [`${room}/impure.ts`, IMPURE])),
  })
  for (const [room, { wrong }] of rooms) {
    const lines = faultsIn(`${room}/imports.ts`)
    t.same(
      lines.map((line) => wrong[line - 1]),
      wrong,
      room,
    )
  }
  for (const room of PURE_ROOMS) t.same(faultsIn(`${room}/impure.ts`), [1, 2, 3, 4, 5], room)
})
