import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, Command, Option } from 'commander'
import type { Env } from '../shared/ops/env.ts'
import {
  assetsOption,
  collect,
  DEFAULT_TIMEOUT_S,
  disruptiveChangesOption,
  durationOption,
  hcoNamespaceOption,
  kubeconfigOption,
  listenOption,
  logLevelOption,
  opsListenOption,
  parseAnnotation,
  parseCount,
  parseWebhookTimeout,
  parseWebhookUrl,
} from './options.ts'

/** The name under which the product lives in a cluster where nothing says otherwise. */
const DEFAULT_NAMESPACE = 'virt-platform-autopilot'
/** The systems that a process can run, the default first. */
const SYSTEMS = ['baseline'] as const
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
  const catalogCommand = (name: string, description: string) =>
    command(name, description)
      .option('--namespace <name>', 'our own namespace', namespace)
      .addOption(assetsOption())
  const clusterCommand = (name: string, description: string) =>
    catalogCommand(name, description).addOption(kubeconfigOption())
  const systemCommand = (name: string, description: string) =>
    clusterCommand(name, description).addArgument(
      new Argument('[system]', 'which system it serves').choices(SYSTEMS).default(SYSTEMS[0]),
    )

  systemCommand('webhook', 'judge writes to managed objects before they are stored')
    .addOption(listenOption('--listen <address>', 'where the API server reaches us', ':9443'))
    .addOption(opsListenOption())
    .addOption(
      new Option(
        '--enforcement <mode>',
        'what happens to an edit of a managed field; default: what the asset says, else correct',
      ).choices(['correct', 'deny']),
    )
    .addOption(
      new Option('--cert-mode <mode>', 'where the serving certificate comes from')
        .choices(['secret', 'files'])
        .default('secret'),
    )
    .option('--cert-dir <folder>', 'with --cert-mode files: the folder of tls.crt and tls.key')
    .option(
      '--client-ca <file>',
      'let only callers in that have a certificate of these authorities; default: anybody who reaches us',
    )
    .option(
      '--contest-limit <count>',
      'edits of managed fields that one user may make',
      parseCount,
      5,
    )
    .addOption(
      durationOption('--contest-refill <duration>', 'after which one such edit is forgiven', '12m'),
    )
    .addOption(
      durationOption(
        '--quiet-period <duration>',
        'without such an edit, which ends an edit war',
        '1h',
      ),
    )
    .addOption(
      durationOption(
        '--shutdown-grace <duration>',
        'how long to go on serving after SIGTERM',
        '10s',
      ),
    )
    .action(async (_system, options) => (await import('./webhook.ts')).webhook(options))

  systemCommand('reconciler', 'create, heal and register, as one leader')
    .addOption(hcoNamespaceOption())
    .addOption(opsListenOption())
    .option('--no-leader-elect', 'act without holding the Lease: only where nobody else can')
    .addOption(durationOption('--resync <duration>', 'compare everything this often', '5m'))
    .addOption(disruptiveChangesOption('hold').default('hold'))
    .addOption(
      new Option('--activation <mode>', 'what to do where the HyperConverged does not say')
        .choices(['on', 'observe'])
        .default('on'),
    )
    .option(
      '--heal-limit <count>',
      'how often an object is put back within --heal-window',
      parseCount,
      5,
    )
    .addOption(
      durationOption(
        '--heal-window <duration>',
        'after three such windows of an edit war, a pause',
        '1m',
      ),
    )
    .addOption(
      new Option('--failure-policy <policy>', 'what happens to a write while no webhook answers')
        .choices(['Ignore', 'Fail'])
        .default('Ignore'),
    )
    .option(
      '--webhook-timeout <seconds>',
      'how long a write waits for each of the webhook’s entries',
      parseWebhookTimeout,
      DEFAULT_TIMEOUT_S,
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
    .option('--webhook-url <url>', 'where the webhook is, outside a cluster', parseWebhookUrl)
    .option(
      '--webhook-ca <file>',
      'the authorities of the webhook’s certificate, where somebody else makes it (webhook --cert-mode files)',
    )
    .addOption(
      new Option(
        '--webhook-ca-injection <annotation>',
        'KEY=VALUE on the webhook configurations: who reads it writes the authorities there (cert-manager, the service CA)',
      )
        .argParser(parseAnnotation)
        .conflicts('webhookCa'),
    )
    .option('--observe', 'compute and report only, write nothing')
    .action(async (_system, options) => (await import('./reconciler.ts')).reconciler(options, env))

  catalogCommand('render', 'print the baseline of each asset, for a cluster or offline')
    .option('--kubeconfig <file>', 'the cluster that it is for; default: what the next options say')
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
    .option('--asset <name>', 'only this asset; repeatable', collect)
    .option('--metadata-only', 'apiVersion, kind and metadata alone', false)
    .option(
      '--decode',
      'show what payloads (data: URLs, gzip too) encode: to read, not to apply',
      false,
    )
    .addOption(
      new Option(
        '-o, --output <format>',
        'objects, or every asset and why it is active or not, or the facts that templates see',
      )
        .choices(['yaml', 'json', 'status', 'facts'])
        .default('yaml'),
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
    .addOption(
      new Option('-o, --output <format>', 'the changes for people, or every asset for scripts')
        .choices(['text', 'json'])
        .default('text'),
    )
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
    'print the ServiceAccounts and least-privilege roles of both processes',
  ).action(async (options) => (await import('./rbac.ts')).rbac(options))

  command('unregister', 'remove our webhook configurations from a cluster')
    .addOption(kubeconfigOption())
    .action(async (options) => (await import('./unregister.ts')).unregisterWebhook(options))

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
