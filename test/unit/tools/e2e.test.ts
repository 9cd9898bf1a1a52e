import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findEngine, type Run } from '../../../tools/e2e/engine.ts'
import { createKindCluster } from '../../../tools/e2e/kind.ts'

/** What would be run, in short; the programs that are named fail. */
function recorder(...failing: readonly string[]) {
  const lines: string[] = []
  const run: Run = async (file, args) => {
    const line = [file, ...args.filter((arg) => !arg.startsWith('--'))].join(' ')
    lines.push(line)
    if (failing.some((one) => line.startsWith(one))) throw new Error(`${line} failed`)
  }
  return { lines, run }
}

t.test('the first engine that answers runs the containers', async (t) => {
  t.equal(await findEngine(recorder().run), 'docker')
  const { lines, run } = recorder('docker')
  t.equal(await findEngine(run), 'podman')
  t.same(lines, ['docker info', 'podman info'])
})

t.test('without one the ways out are named', async (t) => {
  const { run } = recorder('docker', 'podman')
  await t.rejects(findEngine(run), {
    message: /^kind needs docker or podman, .* --kubeconfig FILE, .* --embedded$/,
  })
})

function options(t: Test, run: Run) {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-e2e-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return { kind: 'kind', engine: 'docker', run, name: 'one', folder, version: '1.2.3' } as const
}

t.test('a cluster with workers gets the image of this version', async (t) => {
  const { lines, run } = recorder()
  const given = options(t, run)
  const { kubeconfig, image, remove } = await createKindCluster(given)
  const archive = join(given.folder, 'image.tar')
  t.same(lines, [
    'kind create cluster',
    'npm run image',
    'docker save virt-platform-autopilot:1.2.3',
    `kind load image-archive ${archive}`,
  ])
  t.equal(kubeconfig, join(given.folder, 'kubeconfig'))
  t.same(image, { repository: 'virt-platform-autopilot', tag: '1.2.3', pullPolicy: 'Never' })
  const { nodes } = JSON.parse(readFileSync(join(given.folder, 'kind.json'), 'utf8'))
  t.same(
    nodes.map(({ role }: { role: string }) => role),
    ['control-plane', 'worker', 'worker'],
  )
  await remove()
  t.equal(lines.at(-1), 'kind delete cluster')
})

t.test('podman’s images are its own', async (t) => {
  const { lines, run } = recorder()
  const { image } = await createKindCluster({ ...options(t, run), engine: 'podman' })
  t.equal(image.repository, 'localhost/virt-platform-autopilot')
  t.ok(lines.includes('podman save localhost/virt-platform-autopilot:1.2.3'))
})

for (const failing of ['kind create', 'npm run image', 'docker save', 'kind load'])
  t.test(`no cluster is left where ${failing} fails`, async (t) => {
    const { lines, run } = recorder(failing)
    await t.rejects(createKindCluster(options(t, run)), { message: /failed$/ })
    t.equal(lines.at(-1), 'kind delete cluster')
    t.ok(lines.at(-2)?.startsWith(failing))
  })
