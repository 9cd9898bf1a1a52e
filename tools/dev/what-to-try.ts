import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface WhatToTry {
  readonly kubeconfig: string
  readonly builtKubectl: string
  /** The PATH on which to look for the reader's own kubectl. */
  readonly path: string
  readonly logs: string
  readonly webhookPid: number
}

const HCO = 'hyperconverged -n openshift-cnv kubevirt-hyperconverged'

/** The five commands that show what the product does, in the order in which they tell the story. */
export const commandsToTry = (
  kubectl: string,
): readonly (readonly [why: string, command: string])[] => [
  [
    'the baseline exists',
    `${kubectl} get hyperconvergeds,machineconfigs,kubeletconfigs,nodehealthchecks,metallbs -A -l platform.kubevirt.io/managed-by`,
  ],
  [
    'an edit of a managed field is corrected, and the warning says how to make it stick',
    `${kubectl} patch ${HCO} --type merge -p '{"spec":{"virtualization":{"liveMigrationConfig":{"allowPostCopy":true}}}}'`,
  ],
  [
    'that way makes it stick',
    `${kubectl} annotate ${HCO} --overwrite platform.kubevirt.io/patch='[{"op":"add","path":"/spec/virtualization/liveMigrationConfig/allowPostCopy","value":true}]'`,
  ],
  [
    'what would reboot nodes is refused',
    `${kubectl} patch machineconfig 90-worker-swap-online --type merge -p '{"spec":{"config":{"systemd":{"units":[]}}}}'`,
  ],
  [
    'one object is let go',
    `${kubectl} annotate metallb -n metallb-system metallb --overwrite platform.kubevirt.io/mode=unmanaged`,
  ],
]

/** The text that `dev` ends its start with. */
export function whatToTry({ kubeconfig, builtKubectl, path, logs, webhookPid }: WhatToTry): string {
  const kubectl = kubectlOf(path, builtKubectl)
  const commands = commandsToTry(kubectl).map(([why, command]) => `  # ${why}\n  ${command}`)
  return `
The platform is at its baseline. In another terminal:

  export KUBECONFIG=${kubeconfig}

${commands.join('\n\n')}

To see the reconciler heal what the webhook did not see: kill -9 ${webhookPid}, then patch the HyperConverged again. Ctrl-C and
\`npm start\` bring the webhook back.
Logs: ${join(logs, 'webhook.log')} and reconciler.log beside it. Ctrl-C ends everything.
`
}

/** The reader's own kubectl, where there is one on the PATH. */
export const kubectlOf = (path: string, built: string) =>
  isOnPath('kubectl', path) ? 'kubectl' : built

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
