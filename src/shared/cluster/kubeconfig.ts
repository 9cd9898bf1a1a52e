import { readFileSync } from 'node:fs'
import { KubeConfig } from '@kubernetes/client-node'

/** The kubeconfig cannot be used; the message names the file and the way out. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError' as const
}

/** Reads a kubeconfig from a file, or finds one as kubectl does: KUBECONFIG, ~/.kube/config, the pod's own. */
export function loadKubeconfig(file: string | undefined): KubeConfig {
  const title = file === undefined ? 'the kubeconfig' : `the kubeconfig ${file}`
  const kubeConfig = new KubeConfig()
  try {
    if (file === undefined) kubeConfig.loadFromDefault()
    else kubeConfig.loadFromString(readFileSync(file, 'utf8'))
  } catch (error) {
    const way = 'give one with --kubeconfig FILE'
    throw new KubeconfigError(`cannot read ${title}: ${reasonOf(error)}; ${way}`, { cause: error })
  }
  if (kubeConfig.getCurrentCluster()) return kubeConfig
  const way = 'choose one with kubectl config use-context'
  throw new KubeconfigError(`${title} has no current context: ${way}`)
}

// A parser's message can quote the file, which holds credentials; its first line does not.
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : (message.split('\n')[0] ?? '')
}
