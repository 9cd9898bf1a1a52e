// Builds the images with the container engine that is there: `npm run image`, or with `--target` one of them, which alone may be
// given a name. What follows is the engine's: `npm run image -- --target graph --platform linux/amd64,linux/arm64`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

// How each builds, and what must succeed first: whether somebody answers, and whether it knows --platform=$BUILDPLATFORM.
const ENGINES = [
  { file: 'docker', build: ['buildx', 'build'], needs: [['info'], ['buildx', 'version']] },
  { file: 'podman', build: ['build'], needs: [['info']] },
  { file: 'buildah', build: ['build'], needs: [['info']] },
] as const

type Engine = (typeof ENGINES)[number]
const TARGETS = ['baseline', 'graph'] as const

const faults: string[] = []
const engine = ENGINES.find(({ file, needs }) => {
  const fault = needs.map((args) => faultOf(file, args)).find((one) => one !== undefined)
  if (fault !== undefined) faults.push(`${file}: ${fault}`)
  return fault === undefined
})
if (engine) build(engine)
else {
  console.error(
    `no container engine can build the image; install or start one of them:\n${faults.join('\n')}`,
  )
  process.exitCode = 1
}

function faultOf(file: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' })
  if (error) return 'not installed'
  if (status === 0) return undefined
  const said = `${stdout}\n${stderr}`.trim().split('\n').at(-1)
  return `\`${[file, ...args].join(' ')}\` fails: ${said}`
}

function build(engine: Engine): void {
  const given = process.argv.slice(2)
  const isNamed = given.some((arg) => /^(-t|--tag|--manifest)(=|$)/.test(arg))
  const isOne = given.some((arg) => /^--target(=|$)/.test(arg))
  if (isNamed && !isOne) {
    console.error('say which image is to have that name: --target baseline or --target graph')
    process.exitCode = 2
    return
  }
  for (const target of isOne ? [[]] : TARGETS.map((one) => ['--target', one]))
    if (!process.exitCode) buildOne(engine, [...target, ...given], isNamed)
}

function buildOne({ file, build }: Engine, given: readonly string[], isNamed: boolean): void {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const isGraph = /--target[= ]graph( |$)/.test(given.join(' '))
  const image = `${name}${isGraph ? '-graph' : ''}:${version}`
  // Of several platforms, podman and buildah put the last one alone under a tag.
  const isList = file !== 'docker' && given.some((arg) => /^(--platform=)?\w+\/\w+,/.test(arg))
  const named = isNamed ? [] : [isList ? '--manifest' : '--tag', image]
  const args = [...build, '--file', 'tools/image/Containerfile', ...named, ...given, '.']
  console.log(`> ${[file, ...args].join(' ')}`)
  process.exitCode = spawnSync(file, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
