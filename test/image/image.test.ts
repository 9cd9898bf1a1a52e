import { spawnSync } from 'node:child_process'
import { globSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findTool } from '../../tools/go-programs/tools.ts'
import { bundledPackages } from '../../tools/image/bundled-packages.ts'
import { environment } from '../cluster/harness/fixture.ts'
import {
  type AssembledImage,
  assembledImage,
  imageOf,
  instructionsOf,
  stages,
  type Target,
} from './assembled.ts'

const ROOT = join(import.meta.dirname, '../..')
const MB = 1024 * 1024
const TARGETS: readonly Target[] = ['baseline', 'graph']
const COMMANDS = [
  ['--help'],
  ['reconciler', '--help'],
  ['version'],
  ['render'],
  ['render', '-o', 'status', '--force-pci'],
  ['check', '/nowhere'],
  ['diff'],
]
const AS_US = { cwd: '/', env: {}, encoding: 'utf8' } as const
const asUser = ({ env, user }: AssembledImage) => ({ ...AS_US, env, ...user })

t.test('the Containerfile', async (t) => {
  t.equal(stages().at(-1)?.name, 'baseline', 'what is built where nobody says which')
  for (const name of ['build', 'evaluator'])
    t.match(
      stages().find((stage) => stage.name === name)?.from,
      /^--platform=\$BUILDPLATFORM /,
      'no emulation to build',
    )
  t.match(
    stages().find(({ name }) => name === 'runtime')?.from,
    /^gcr\.io\/distroless\/nodejs24-[a-z0-9]+:nonroot$/,
  )
  for (const target of TARGETS) {
    const names = instructionsOf(target).map(({ name }) => name)
    const own = target === 'graph' ? ['COPY', 'ENV'] : ['COPY']
    t.same(names, ['ENV', 'USER', 'ENTRYPOINT', ...own], 'an image runs nothing while it is built')
    const { uid, gid } = imageOf(target)
    t.ok(Number(uid) > 0 && Number(gid) > 0, 'a user by number who is not root')
  }
  const { go } = /^go (?<go>\d+\.\d+)/m.exec(read('tools/go/cue-evaluator/go.mod'))?.groups ?? {}
  t.match(stages().find(({ name }) => name === 'evaluator')?.from, new RegExp(` golang:${go}$`))
})

for (const target of TARGETS)
  t.test(`the image of ${target}, assembled`, async (t) => {
    const image = assembledImage(t, target)
    const { root, app, command } = image
    const [node, entry] = command
    const files = () =>
      globSync('**', { cwd: root, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    const before = files()
    const own = before.filter((file) => file !== node).map((file) => file.slice(app.length + 1))

    await t.test('holds what runs, and nothing else', async (t) => {
      const isKnown = (file: string) =>
        /^(dist\/[\w-]+\.js|LICENSE|THIRD-PARTY-LICENCES|package\.json|sbom\.cdx\.json)$/.test(file)
      const isOfGraph = (file: string) => /^(bin|assets\/graph)\//.test(file)
      const besides = ['bin/cue-evaluator', ...globSync('assets/**/*.*', { cwd: ROOT })]
      t.same(
        own.filter((file) => !isKnown(file)),
        besides.filter((file) => target === 'graph' || !isOfGraph(file)).sort(),
      )
      const size = own
        .filter((file) => !file.startsWith('bin/'))
        .reduce((sum, file) => sum + lstatSync(join(app, file)).size, 0)
      t.ok(size < 5 * MB, `${size} bytes`)
      const isWritable = (file: string) => (lstatSync(file).mode & 0o222) !== 0
      t.same(
        own.filter((file) => isWritable(join(app, file))),
        [],
      )
    })

    await t.test('is the program that is built in a clone', async (t) => {
      // A chunk has its content's digest in its name.
      t.same(
        own.filter((file) => file.startsWith('dist/')),
        globSync('dist/*.js', { cwd: ROOT }).sort(),
      )
    })

    await t.test(
      'runs as the user that the Containerfile names',
      {
        skip: image.user ? false : 'only root can run something as another user',
      },
      async (t) => {
        const { stdout } = spawnSync(node, ['--print', 'process.getuid()'], asUser(image))
        t.equal(stdout, `${imageOf(target).uid}\n`)
      },
    )

    for (const args of COMMANDS)
      await t.test(`says what a clone says: ${args.join(' ')}`, async (t) => {
        const clone = join(ROOT, 'src/cli/main.ts')
        const wanted = spawnSync(process.execPath, [clone, ...args], AS_US)
        const { status, stdout, stderr } = spawnSync(node, [entry, ...args], asUser(image))
        t.equal(status, wanted.status)
        t.equal(stdout, wanted.stdout)
        t.equal(stderr, wanted.stderr)
        t.ok(stdout.length + stderr.length > 5)
      })

    if (target === 'graph')
      await t.test('evaluates CUE as the user', async (t) => evaluates(t, image))

    await t.test('writes nothing', async (t) => {
      t.same(files(), before)
    })

    await t.test('names each package that it has code of, and its licence', async (t) => {
      const lock = JSON.parse(read('package-lock.json'))
      const packages = bundledPackages(JSON.parse(read('dist/metafile.json')), lock)
      t.ok(packages.length > 50)
      const { components } = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8'))
      const listed: readonly string[] = components.map(({ purl }: { purl: string }) =>
        decodeURIComponent(purl),
      )
      const licences = readFileSync(join(app, 'THIRD-PARTY-LICENCES'), 'utf8')
      for (const { path } of packages) {
        // As installed, not as the lock file has it.
        const { name, version } = JSON.parse(read(`${path}/package.json`))
        t.ok(listed.includes(`pkg:npm/${name}@${version}`), `${name} is listed`)
        t.match(licences, `${name} ${version} (`)
        t.notOk(lock.packages[path].dev, `${name} is not for development alone`)
      }
      const ofGo = listed.filter((purl) => purl.startsWith('pkg:golang/'))
      t.equal(
        new Set(packages.map((one) => `${one.name}@${one.version}`)).size,
        listed.length - ofGo.length,
      )
      const isNamed = (name: string) => ofGo.some((purl) => purl.startsWith(`pkg:golang/${name}@`))
      for (const name of ['cuelang.org/go', 'std']) t.equal(isNamed(name), target === 'graph', name)
      for (const purl of ofGo)
        t.match(licences, `${purl.replace(/^pkg:golang\/(.*)@(.*)$/, '$1 $2')} (`)
    })
  })

/** Whether the evaluator is the one that a clone builds, and runs where the image's user is. */
async function evaluates(t: Test, image: AssembledImage): Promise<void> {
  const { CUE_EVALUATOR = '' } = image.env
  const built = await findTool('cue-evaluator', environment(), (line) => t.comment(line))
  t.ok(readFileSync(CUE_EVALUATOR).equals(readFileSync(built)), 'byte by byte')
  const request = { module: { files: { 'a.cue': 'package a\n\ngraph: nodes: []\n' } }, input: {} }
  const options = { ...asUser(image), input: JSON.stringify(request) }
  const { status, stdout, stderr } = spawnSync(CUE_EVALUATOR, [], options)
  t.equal(status, 0, stderr)
  t.doesNotThrow(() => JSON.parse(stdout), stdout)
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
