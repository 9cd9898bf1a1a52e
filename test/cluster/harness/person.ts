import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import { environment, type KubectlOptions, type Said, type TestCluster } from './fixture.ts'

/** A kubectl, or a shell that has one on its path, in the hands of one person. */
export interface Person {
  (args: readonly string[], options?: Omit<KubectlOptions, 'user'>): Promise<Said>
  /** Runs a command line as a person pastes it. */
  readonly shell: (line: string, input?: string) => Promise<Said>
}

/** Somebody of the group that administrates the platform. */
export function createPerson(cluster: TestCluster, name: string): Person {
  const user = { name, groups: [PLATFORM_ADMINS] }
  const kubectl = (args: readonly string[], options: Omit<KubectlOptions, 'user'> = {}) =>
    cluster.kubectl(args, { ...options, user })
  return Object.assign(kubectl, {
    async shell(line: string, input = '') {
      const child = spawn('/bin/sh', ['-c', line], {
        cwd: join(cluster.dataDir, 'home'),
        env: {
          PATH: `${dirname(cluster.binaries.kubectl)}:${environment().PATH}`,
          HOME: join(cluster.dataDir, 'home'),
          KUBECONFIG: cluster.kubeconfigFor(user),
        },
      })
      // Whoever fails at once reads nothing.
      child.stdin.on('error', () => undefined).end(input)
      const closed = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      const [code] = await closed
      return { code, stdout, stderr }
    },
  })
}
