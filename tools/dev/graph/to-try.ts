import { kubectlOf } from '../what-to-try.ts'

export interface GraphToTry {
  readonly kubeconfig: string
  readonly builtKubectl: string
  /** The PATH on which to look for the reader's own kubectl. */
  readonly path: string
  readonly logs: readonly string[]
}

/** The commands that show what graphs do, in the order in which they tell the story. */
export const graphCommandsToTry = (
  kubectl: string,
): readonly (readonly [why: string, command: string])[] => [
  [
    'one Transform became a Deployment that is available, and a Service',
    `${kubectl} get transforms,resourcegraphs,deployments,services -n shop`,
  ],
  [
    'an edit of the input changes the objects',
    `${kubectl} patch transform shop -n shop --type merge -p '{"spec":{"input":{"replicas":3}}}'`,
  ],
  ['what somebody deletes comes back', `${kubectl} delete service shop -n shop`],
  [
    'an input that does not fit the module is refused before it is stored, and the field is named',
    `${kubectl} patch transform shop -n shop --type merge -p '{"spec":{"input":{"replicas":-1}}}'`,
  ],
  [
    'so is a password that everybody could read: a policy of the module',
    `${kubectl} patch transform shop -n shop --type merge -p '{"spec":{"input":{"env":{"DATABASE_PASSWORD":"swordfish"}}}}'`,
  ],
  [
    'with the Transform all goes that it made; what that is, and how to keep it, is told before',
    `${kubectl} delete transform shop -n shop --dry-run=server`,
  ],
  ['and then', `${kubectl} delete transform shop -n shop`],
]

/** The text that `npm start -- --systems graph` ends its start with. */
export function graphToTry({ kubeconfig, builtKubectl, path, logs }: GraphToTry): string {
  const kubectl = kubectlOf(path, builtKubectl)
  const commands = graphCommandsToTry(kubectl).map(([why, command]) => `  # ${why}\n  ${command}`)
  return `
The Transform shop/shop is ready. In another terminal:

  export KUBECONFIG=${kubeconfig}

${commands.join('\n\n')}

Logs: ${logs.join(', ')}. Ctrl-C ends everything.
`
}
