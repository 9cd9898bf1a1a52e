import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lastLines, spawnLeashed } from '../control-plane/processes.ts'
import { requireRoom } from './disk.ts'
import type { Go } from './go.ts'
import { type GoProgram, MODULE, moduleOf } from './module.ts'
import { withProgress } from './progress.ts'

/** What to build, with what, and into which folder. */
export interface Build {
  readonly program: GoProgram
  readonly go: Go
  readonly folder: string
  readonly print: (line: string) => void
}

/** The version of Kubernetes that the module builds, such as 1.36.3. */
export function kubernetesVersion(): string {
  const [, version = ''] =
    /^\s*k8s\.io\/kubernetes v(\S+)/m.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8')) ?? []
  return version
}

const FLAGS = ['-modcacherw', '-buildvcs=false', '-trimpath', '-ldflags']

/** The flags for `go build`: a binary that says its version, and is the same wherever it is built. */
export function buildFlags({ isModule }: GoProgram): readonly string[] {
  if (isModule) return [...FLAGS, '-s -w'] // knows nothing of Kubernetes
  const version = kubernetesVersion()
  const [major, minor] = version.split('.')
  const stamp = (name: string, value?: string) =>
    `-X k8s.io/component-base/version.${name}=${value}`
  const stamps = [
    stamp('gitVersion', `v${version}`),
    stamp('gitMajor', major),
    stamp('gitMinor', minor),
  ]
  const ldflags = ['-s -w', ...stamps].join(' ')
  return [...FLAGS, ldflags]
}

/** Builds a program beside its folder and moves it there: it is there, or nothing is. */
export async function build({ program, go, folder, print }: Build): Promise<void> {
  const { name, isModule, title, takes } = program
  await requireRoom(go, folder, title, isModule ? undefined : kubernetesVersion())
  const beside = mkdtempSync(`${folder}.building-`)
  const logFile = `${folder}.log`
  rmSync(logFile, { force: true })
  try {
    const compiler = spawnLeashed({
      name: 'go build',
      file: 'go',
      args: [
        'build',
        ...buildFlags(program),
        '-o',
        join(beside, name),
        isModule ? '.' : `./${name}`,
      ],
      cwd: moduleOf(program),
      env: { ...go.env, GOTMPDIR: beside },
      logFile,
    })
    const step = `building ${title} with ${go.version}, once, about ${takes}`
    const how = await withProgress(step, compiler.ended, print)
    if (how !== 'exit code 0') throw failure(title, how, compiler.output(), logFile)
    for (const alias of program.aliases ?? []) symlinkSync(name, join(beside, alias))
    renameSync(beside, folder)
    rmSync(logFile)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

function failure(title: string, how: string, output: string, logFile: string): Error {
  if (output.includes('no space left on device'))
    return new Error(`building ${title}: the disk is full: make 5 GB of room (log: ${logFile})`)
  return new Error(
    `building ${title} failed (${how}); all of it is in ${logFile}:\n${lastLines(output)}`,
  )
}
