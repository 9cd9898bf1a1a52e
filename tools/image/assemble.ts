// Assembles what an image holds beside Node, in a folder that is made for it: `node tools/image/assemble.ts FOLDER` the baseline's,
// `node tools/image/assemble.ts FOLDER EVALUATOR` that of the system `graph`, with what the Containerfile built in the second folder.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { bundledPackages } from './bundled-packages.ts'
import { goModules } from './go-modules.ts'
import { licenceTexts } from './licence-texts.ts'
import { sbomOf } from './sbom.ts'

const ROOT = join(import.meta.dirname, '../..')
const jsonIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

const [given, evaluator] = process.argv.slice(2)
if (given === undefined)
  throw new Error('name the folder: node tools/image/assemble.ts FOLDER [EVALUATOR]')
const folder = resolve(given)
const inFolder = (name: string) => join(folder, name)

execFileSync(process.execPath, ['tools/build.mjs'], { cwd: ROOT, stdio: 'inherit' })
const dist = join(ROOT, 'dist')
const components = [
  ...bundledPackages(jsonIn(join(dist, 'metafile.json')), jsonIn(join(ROOT, 'package-lock.json'))),
  ...(evaluator === undefined ? [] : goModules(resolve(evaluator))),
]
// No source maps: they are four fifths of a build, and another build of the same sources makes them again.
for (const name of readdirSync(dist).filter((name) => name.endsWith('.js')))
  cpSync(join(dist, name), inFolder(`dist/${name}`))

const { name, version, license, type } = jsonIn(join(ROOT, 'package.json'))
const write = (file: string, content: unknown) =>
  writeFileSync(inFolder(file), `${JSON.stringify(content, null, 2)}\n`)
write('package.json', { name, version, license, type })
write('sbom.cdx.json', sbomOf({ name, version, license }, components))
writeFileSync(inFolder('THIRD-PARTY-LICENCES'), licenceTexts(ROOT, components))
cpSync(join(ROOT, 'LICENSE'), inFolder('LICENSE'))
const assets = join(ROOT, 'assets')
const isShipped = (path: string) => evaluator !== undefined || relative(assets, path) !== 'graph'
cpSync(assets, inFolder('assets'), { recursive: true, filter: isShipped })
if (evaluator !== undefined) cpSync(join(evaluator, 'cue-evaluator'), inFolder('bin/cue-evaluator'))

// Whatever the umask was here: the image's user is another one, and on OpenShift none that the image knows.
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const isProgram = entry.parentPath === inFolder('bin')
  const mode = isProgram ? 0o555 : 0o444
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : mode)
}
chmodSync(folder, 0o755)
