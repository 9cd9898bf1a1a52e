import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lastLines, spawnLeashed } from '../processes.ts'
import { requireRoom } from './disk.ts'
import type { Go } from './go.ts'
import { withProgress } from './progress.ts'

/** The names that one binary goes by. */
export const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const

/** What to build, with what, and into which folder. */
export interface Build {
  readonly module: string
  readonly go: Go
  readonly folder: string
  readonly print: (line: string) => void
}

/** The version of Kubernetes that a module builds, such as 1.36.3. */
export function kubernetesVersion(module: string): string {
  const [, version = ''] =
    /^\s*k8s\.io\/kubernetes v(\S+)/m.exec(readFileSync(join(module, 'go.mod'), 'utf8')) ?? []
  return version
}

/** The flags for `go build`: a binary that says its version, and is the same wherever it is built. */
export function buildFlags(version: string): readonly string[] {
  const [major, minor] = version.split('.')
  const stamp = (name: string, value?: string) =>
    `-X k8s.io/component-base/version.${name}=${value}`
  const stamps = [
    stamp('gitVersion', `v${version}`),
    stamp('gitMajor', major),
    stamp('gitMinor', minor),
  ]
  const ldflags = ['-s -w', ...stamps].join(' ')
  return ['-modcacherw', '-buildvcs=false', '-trimpath', '-ldflags', ldflags]
}

/** Builds the control plane beside its folder and moves it there: all of it is there, or nothing. */
export async function build({ module, go, folder, print }: Build): Promise<void> {
  const version = kubernetesVersion(module)
  await requireRoom(go, folder, version)
  const beside = mkdtempSync(`${folder}.building-`)
  const logFile = `${folder}.log`
  rmSync(logFile, { force: true })
  try {
    const compiler = spawnLeashed({
      name: 'go build',
      file: 'go',
      args: ['build', ...buildFlags(version), '-o', join(beside, 'control-plane'), '.'],
      cwd: module,
      env: { ...go.env, GOTMPDIR: beside },
      logFile,
    })
    const task = `building Kubernetes ${version} with ${go.version}, once, about 5 minutes`
    const how = await withProgress(task, compiler.ended, print)
    if (how !== 'exit code 0') throw failure(how, compiler.output(), logFile)
    for (const name of COMPONENTS) symlinkSync('control-plane', join(beside, name))
    renameSync(beside, folder)
    rmSync(logFile)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

function failure(how: string, output: string, logFile: string): Error {
  if (output.includes('no space left on device'))
    return new Error(
      `building the control plane: the disk is full: make 5 GB of room (log: ${logFile})`,
    )
  return new Error(
    `building the control plane failed (${how}); all of it is in ${logFile}:\n${lastLines(output)}`,
  )
}
