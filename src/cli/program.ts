import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, Command, Option } from 'commander'
import type { Env } from '../shared/ops/env.ts'
import { addGraphCommands } from './graph/commands.ts'
import {
  activationOption,
  assetsOption,
  collect,
  disruptiveChangesOption,
  enforcementOption,
  hcoNamespaceOption,
  kubeconfigOption,
  logLevelOption,
  outputOption,
} from './options.ts'
import { addProcessCommands, systemArgument } from './processes/commands.ts'

/** The name under which the product lives in a cluster where nothing says otherwise. */
export const DEFAULT_NAMESPACE = 'virt-platform-autopilot'
const POD_NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** The whole command line. Each command loads its own code, so that no process carries another's. */
export function createProgram(env: Env, namespace = podNamespace() ?? DEFAULT_NAMESPACE): Command {
  const program = new Command('virt-platform-autopilot')
    .description('Holds the objects that a virtualization platform needs at a golden baseline.')
    .version(versionOf(), '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  const commandOf = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).addOption(logLevelOption()).exitOverride()
  const command = (name: string, description: string) => commandOf(program, name, description)
  const catalogCommand = (name: string, description: string) =>
    command(name, description)
      .option('--namespace <name>', 'our own namespace', namespace)
      .addOption(assetsOption())
  const clusterCommand = (name: string, description: string) =>
    catalogCommand(name, description).addOption(kubeconfigOption())
  const offlineCommand = (name: string, description: string) =>
    catalogCommand(name, description)
      .option(
        '--kubeconfig <file>',
        'the cluster that it is for; default: what the next options say',
      )
      .option('--hco <file>', 'the HyperConverged, YAML or JSON; default: one with nothing set')
      .addOption(hcoNamespaceOption())
      .option(
        '--nodes <file>',
        'what else facts are read from, as kubectl get -o yaml prints it; repeatable',
        collect,
      )
      .option('--without-api <group>', 'an API group that is not there; repeatable', collect)
      .option('--force-pci', 'as if a node had PCI devices to pass through')
      .option('--force-numa', 'as if a node had NUMA')
      .option('--force-gpu', 'as if a node had a GPU')

  const processes = addProcessCommands(clusterCommand, env)
  const unregister = command('unregister', 'remove our webhook configurations from a cluster')
    .addArgument(systemArgument('which system’s'))
    .addOption(kubeconfigOption())
    .action(async (_system, options) =>
      (await import('./unregister.ts')).unregisterWebhook(options),
    )
  addGraphCommands({ ...processes, unregister, program, commandOf }, env)

  clusterCommand(
    'status',
    'print every asset, one line each: exit code 0 all is well, 1 something is wrong, 2 unknown',
  )
    .addOption(hcoNamespaceOption())
    .addOption(
      outputOption(['text', 'wide', 'json'], 'a table, one with more columns, or all for scripts'),
    )
    .action(async (options) => {
      process.exitCode = await (await import('./status/status.ts')).status(options, env)
    })

  offlineCommand(
    'check',
    'print the webhook’s verdict on manifests: exit code 0 all stored as they are, 1 not, 2 unreadable',
  )
    .argument('<file...>', 'files and folders of YAML or JSON; - for standard input')
    .addOption(enforcementOption())
    .addOption(
      outputOption(
        ['text', 'json', 'sarif', 'junit'],
        'for people, for scripts, for code scanning, or for CI',
      ),
    )
    .action(async (files, options) => {
      process.exitCode = await (await import('./check/check.ts')).check(files, options, env)
    })

  offlineCommand('render', 'print the baseline of each asset, for a cluster or offline')
    .option('--asset <name>', 'only this asset; repeatable', collect)
    .option('--metadata-only', 'apiVersion, kind and metadata alone', false)
    .option(
      '--decode',
      'show what payloads (data: URLs, gzip too) encode: to read, not to apply',
      false,
    )
    .addOption(
      outputOption(
        ['yaml', 'json', 'status', 'facts'],
        'objects, or every asset and why it is active or not, or the facts that templates see',
      ),
    )
    .action(async (options) => {
      process.exitCode = await (await import('./render/render.ts')).render(options, env)
    })

  clusterCommand(
    'diff',
    'print what would change in a cluster: exit code 0 nothing, 1 something, 2 unknown',
  )
    .addOption(hcoNamespaceOption())
    .addOption(disruptiveChangesOption('as the leader has it'))
    .addOption(activationOption('as the leader has it'))
    .addOption(outputOption(['text', 'json'], 'the changes for people, or every asset for scripts'))
    .addOption(
      new Option(
        '--fail-on <what>',
        'what the exit code 1 stands for: any change, or a reboot that nobody has approved',
      )
        .choices(['change', 'reboot'])
        .default('change'),
    )
    .action(async (options) => {
      process.exitCode = await (await import('./diff/diff.ts')).diff(options, env)
    })

  clusterCommand('override', 'print the annotation under which an edited manifest is legitimate')
    .argument('<file>', 'the edited manifest, YAML or JSON; - for standard input')
    .action(async (file, options) => (await import('./override.ts')).override(file, options))

  catalogCommand(
    'rbac',
    'print the ServiceAccounts and least-privilege roles of both processes; with --assets, only what your own assets need besides',
  ).action(async (options) => (await import('./rbac.ts')).rbac(options))

  command('completion', 'print what completes our command lines in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => {
      process.stdout.write((await import('./completion.ts')).completion(program, shell))
    })

  command('version', 'print the version').action(() => {
    process.stdout.write(`${versionOf()}\n`)
  })
  return program
}

function podNamespace(): string | undefined {
  try {
    return readFileSync(POD_NAMESPACE_FILE, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function versionOf(): string {
  for (const path of ['../../package.json', '../package.json']) {
    try {
      return JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8')).version
    } catch {
      // the other layout
    }
  }
  return 'unknown'
}
