import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'

/** The kubeconfig cannot be used; the message names the file and the way out. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError' as const
}

// What the library makes of nothing at all. No API server has spoken plain HTTP for years.
const NOWHERE = 'http://localhost:8080'

/** Reads a kubeconfig from a file, or finds one as kubectl does: KUBECONFIG, ~/.kube/config, the pod's own. */
export function loadKubeconfig(file: string | undefined): KubeConfig {
  const title = file === undefined ? 'the kubeconfig' : `the kubeconfig ${file}`
  const kubeConfig = new KubeConfig()
  try {
    if (file === undefined) kubeConfig.loadFromDefault()
    else readFile(kubeConfig, file)
  } catch (error) {
    const way = 'give one with --kubeconfig FILE'
    throw new KubeconfigError(`cannot read ${title}: ${reasonOf(error)}; ${way}`, { cause: error })
  }
  const cluster = kubeConfig.getCurrentCluster()
  if (cluster?.server === NOWHERE)
    throw new KubeconfigError(
      'there is no kubeconfig: give one with --kubeconfig FILE, or set KUBECONFIG',
    )
  if (cluster) return kubeConfig
  const way = 'choose one with kubectl config use-context'
  throw new KubeconfigError(`${title} has no current context: ${way}`)
}

function readFile(kubeConfig: KubeConfig, file: string): void {
  kubeConfig.loadFromFile(file)
  const { users } = parse(readFileSync(file, 'utf8')) as { users?: readonly FileUser[] }
  const tokenFiles = new Map(users?.map(({ name, user }) => [name, user?.tokenFile]))
  // The library does not know this member: it would ask as anonymous.
  kubeConfig.users = kubeConfig.users.map((user) => {
    const path = tokenFiles.get(user.name)
    if (!path) return user
    const config = { tokenFile: resolve(dirname(file), path) }
    return { ...user, authProvider: { name: 'tokenFile', config } }
  })
}

interface FileUser {
  readonly name: string
  readonly user?: { readonly tokenFile?: string }
}

// A parser's message can quote the file, which holds credentials; its first line does not.
function reasonOf(error: unknown): string {
  const { code, message, path } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? `there is no file ${path}` : (message.split('\n')[0] ?? '')
}
