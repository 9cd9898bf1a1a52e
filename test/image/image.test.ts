import { spawnSync } from 'node:child_process'
import { globSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bundledPackages } from '../../tools/image/bundled-packages.ts'
import { assembledImage, lastStage, stages } from './assembled.ts'

const ROOT = join(import.meta.dirname, '../..')
const MB = 1024 * 1024
const COMMANDS = [
  ['--help'],
  ['reconciler', '--help'],
  ['version'],
  ['render'],
  ['render', '-o', 'status', '--force-pci'],
  ['check', '/nowhere'],
  ['diff'],
]

t.test('the Containerfile', async (t) => {
  const [build = [], last = []] = stages()
  t.equal(stages().length, 2)
  t.match(build[0]?.args, /^--platform=\$BUILDPLATFORM /, 'no emulation to build')
  t.match(last[0]?.args, /^gcr\.io\/distroless\/nodejs24-[a-z0-9]+:nonroot$/)
  t.same(
    last.map(({ name }) => name),
    ['FROM', 'COPY', 'ENV', 'USER', 'ENTRYPOINT'],
    'the last stage runs nothing',
  )
  const { uid, gid } = lastStage()
  t.ok(Number(uid) > 0 && Number(gid) > 0, 'a user by number who is not root')
})

t.test('the image, assembled', async (t) => {
  const { root, app, command, user } = assembledImage(t)
  const [node, entry] = command
  const asUs = { cwd: '/', env: {}, encoding: 'utf8' } as const
  const asUser = { ...asUs, ...user }
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
    t.same(
      own.filter((file) => !isKnown(file)),
      globSync('assets/**/*.*', { cwd: ROOT }).sort(),
    )
    const size = own.reduce((sum, file) => sum + lstatSync(join(app, file)).size, 0)
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
      skip: user ? false : 'only root can run something as another user',
    },
    async (t) => {
      const { stdout } = spawnSync(node, ['--print', 'process.getuid()'], asUser)
      t.equal(stdout, `${lastStage().uid}\n`)
    },
  )

  for (const args of COMMANDS)
    await t.test(`says what a clone says: ${args.join(' ')}`, async (t) => {
      const clone = join(ROOT, 'src/cli/main.ts')
      const wanted = spawnSync(process.execPath, [clone, ...args], asUs)
      const { status, stdout, stderr } = spawnSync(node, [entry, ...args], asUser)
      t.equal(status, wanted.status)
      t.equal(stdout, wanted.stdout)
      t.equal(stderr, wanted.stderr)
      t.ok(stdout.length + stderr.length > 5)
    })

  await t.test('writes nothing', async (t) => {
    t.same(files(), before)
  })

  await t.test('names each package that it has code of, and its licence', async (t) => {
    const metafile = JSON.parse(readFileSync(join(ROOT, 'dist/metafile.json'), 'utf8'))
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const packages = bundledPackages(metafile, lock)
    t.ok(packages.length > 50)
    const { components } = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8'))
    const listed = components.map((one: { purl: string }) => decodeURIComponent(one.purl))
    const licences = readFileSync(join(app, 'THIRD-PARTY-LICENCES'), 'utf8')
    for (const { path } of packages) {
      // As installed, not as the lock file has it.
      const { name, version } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
      t.ok(listed.includes(`pkg:npm/${name}@${version}`), `${name} is listed`)
      t.match(licences, `${name} ${version} (`)
      t.notOk(lock.packages[path].dev, `${name} is not for development alone`)
    }
    t.equal(new Set(packages.map((one) => `${one.name}@${one.version}`)).size, listed.length)
  })
})
