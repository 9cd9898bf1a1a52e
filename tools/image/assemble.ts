// Assembles what the image holds beside Node, in a folder that is made for it: `node tools/image/assemble.ts FOLDER`.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundledPackages } from './bundled-packages.ts'
import { licenceTexts } from './licence-texts.ts'
import { sbomOf } from './sbom.ts'

const ROOT = join(import.meta.dirname, '../..')
const jsonIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

const [given] = process.argv.slice(2)
if (given === undefined) throw new Error('name the folder: node tools/image/assemble.ts FOLDER')
const folder = resolve(given)
const inFolder = (name: string) => join(folder, name)

execFileSync(process.execPath, ['tools/build.mjs'], { cwd: ROOT, stdio: 'inherit' })
const dist = join(ROOT, 'dist')
const packages = bundledPackages(
  jsonIn(join(dist, 'metafile.json')),
  jsonIn(join(ROOT, 'package-lock.json')),
)
// No source maps: they are four fifths of a build, and another build of the same sources makes them again.
for (const name of readdirSync(dist).filter((name) => name.endsWith('.js')))
  cpSync(join(dist, name), inFolder(`dist/${name}`))

const { name, version, license, type } = jsonIn(join(ROOT, 'package.json'))
const write = (file: string, content: unknown) =>
  writeFileSync(inFolder(file), `${JSON.stringify(content, null, 2)}\n`)
write('package.json', { name, version, license, type })
write('sbom.cdx.json', sbomOf({ name, version, license }, packages))
writeFileSync(inFolder('THIRD-PARTY-LICENCES'), licenceTexts(ROOT, packages))
cpSync(join(ROOT, 'LICENSE'), inFolder('LICENSE'))
cpSync(join(ROOT, 'assets'), inFolder('assets'), { recursive: true })

// Whatever the umask was here: the image's user is another one, and on OpenShift none that the image knows.
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444)
chmodSync(folder, 0o755)
