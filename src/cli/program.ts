import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'

import type { Env } from './control-plane/go.ts'
import {
  disruptiveChangesOption,
  kubeconfigOption,
  logLevelOption,
  namespaceOption,
  opsListenOption,
  parseDuration,
  parseListenArgument,
  parseWebhookUrl,
} from './options.ts'

/** The name under which the product lives in a cluster where nothing says otherwise. */
const DEFAULT_NAMESPACE = 'virt-platform-autopilot'
const POD_NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** The whole command line. Each command loads its own code, so that no process carries another's. */
export function createProgram(env: Env): Command {
  const namespace = podNamespace() ?? DEFAULT_NAMESPACE
  const program = new Command('virt-platform-autopilot')
    .description('Holds the objects that a virtualization platform needs at a golden baseline.')
    .version(versionOf(), '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  const command = (name: string, description: string) =>
    program.command(name).description(description).addOption(logLevelOption()).exitOverride()

  command('webhook', 'judge writes to managed objects before they are stored')
    .addOption(kubeconfigOption())
    .addOption(namespaceOption(namespace))
    .addOption(
      new Option('--listen <address>', 'where the API server reaches us')
        .argParser(parseListenArgument)
        .default({ host: '0.0.0.0', port: 9443 }, ':9443'),
    )
    .addOption(opsListenOption())
    .addOption(
      new Option('--enforcement <mode>', 'what happens to an edit of a managed field')
        .choices(['correct', 'deny'])
        .default('correct'),
    )
    .addOption(
      new Option('--cert-mode <mode>', 'where the serving certificate comes from')
        .choices(['secret', 'files'])
        .default('secret'),
    )
    .option('--cert-dir <folder>', 'with --cert-mode files: the folder of tls.crt and tls.key')
    .addOption(graceOption())
    .action(async (options) => (await import('./webhook.ts')).webhook(options))

  command('reconciler', 'create, heal and register, as one leader')
    .addOption(kubeconfigOption())
    .addOption(namespaceOption(namespace))
    .option('--hco-namespace <name>', 'where the HyperConverged is, if there are several')
    .addOption(opsListenOption())
    .option('--no-leader-elect', 'act without holding the Lease: only where nobody else can')
    .addOption(
      new Option('--resync <duration>', 'compare everything this often')
        .argParser(parseDuration)
        .default(300_000, '5m'),
    )
    .addOption(disruptiveChangesOption('hold').default('hold'))
    .addOption(
      new Option('--failure-policy <policy>', 'what happens to a write while no webhook answers')
        .choices(['Ignore', 'Fail'])
        .default('Ignore'),
    )
    .option(
      '--trusted-user <name>',
      'the user whose writes the webhook never sees; default: the reconciler’s ServiceAccount',
    )
    .option(
      '--webhook-service <name>',
      'the Service of the webhook, in our namespace',
      'virt-platform-autopilot-webhook',
    )
    .addOption(
      new Option('--webhook-url <url>', 'where the webhook is, outside a cluster').argParser(
        parseWebhookUrl,
      ),
    )
    .option(
      '--webhook-ca <file>',
      'the authorities of the webhook’s certificate, where somebody else makes it (webhook --cert-mode files)',
    )
    .option('--observe', 'compute and report only, write nothing')
    .action(async (options) => (await import('./reconciler.ts')).reconciler(options, env))

  command('dev', 'run both, on an embedded control plane or on a cluster of your own')
    .option('--kubeconfig <file>', 'use this cluster, observing only, instead of an embedded one')
    .option('--write', 'with --kubeconfig: change that cluster')
    .option(
      '--webhook-host <address>',
      'with --kubeconfig --write: our address as that cluster’s API server sees it',
    )
    .addOption(disruptiveChangesOption('apply on the embedded cluster, hold on your own'))
    .action(async (options) => (await import('./dev/dev.ts')).dev(options, env))

  command('override', 'print the annotation under which an edited manifest is legitimate')
    .argument('<file>', 'the edited manifest, YAML or JSON; - for standard input')
    .addOption(kubeconfigOption())
    .addOption(namespaceOption(namespace))
    .action(async (file, options) => (await import('./override.ts')).override(file, options))

  command('rbac', 'print the ServiceAccounts and least-privilege roles of both processes')
    .addOption(namespaceOption(namespace))
    .action(async (options) => (await import('./rbac.ts')).rbac(options))

  command('unregister', 'remove our webhook configurations from a cluster')
    .addOption(kubeconfigOption())
    .action(async (options) => (await import('./unregister.ts')).unregisterWebhook(options))

  command('version', 'print the version').action(() => {
    process.stdout.write(`${versionOf()}\n`)
  })
  return program
}

const graceOption = () =>
  new Option('--shutdown-grace <duration>', 'how long to go on serving after SIGTERM')
    .argParser(parseDuration)
    .default(10_000, '10s')

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
