import { readFileSync } from 'node:fs'
import { KubeConfig } from '@kubernetes/client-node'

/** The kubeconfig cannot be used; the message names the file and the way out. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError' as const
}

/** Reads a kubeconfig from a file, or finds one as kubectl does: KUBECONFIG, ~/.kube/config, the pod's own. */
export function loadKubeconfig(file: string | undefined): KubeConfig {
  const kubeConfig = new KubeConfig()
  try {
    if (file === undefined) kubeConfig.loadFromDefault()
    else kubeConfig.loadFromString(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file' : (message.split('\n')[0] ?? '')
    throw new KubeconfigError(
      `cannot read the kubeconfig${file === undefined ? '' : ` ${file}`}: ${reason}; give one with --kubeconfig FILE`,
      { cause: error },
    )
  }
  if (!kubeConfig.getCurrentCluster()) {
    throw new KubeconfigError(
      `the kubeconfig${file === undefined ? '' : ` ${file}`} has no current context: choose one with kubectl config use-context`,
    )
  }
  return kubeConfig
}
