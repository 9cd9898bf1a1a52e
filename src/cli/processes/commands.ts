import { Argument, type Command, Option } from 'commander'
import type { Env } from '../../shared/ops/env.ts'
import {
  activationOption,
  DEFAULT_TIMEOUT_S,
  disruptiveChangesOption,
  durationOption,
  enforcementOption,
  hcoNamespaceOption,
  listenOption,
  opsListenOption,
  parseAnnotation,
  parseCount,
  parseWebhookTimeout,
  parseWebhookUrl,
} from '../options.ts'
import { spareMemory } from './memory.ts'

/** The system that is run where none is named. */
const BASELINE = 'baseline'

/** Adds the commands of the baseline's two processes, each of which loads only its own code; another system's go below them. */
export function addProcessCommands(
  clusterCommand: (name: string, description: string) => Command,
  env: Env,
): { readonly reconciler: Command } {
  const systemCommand = (name: string, description: string) =>
    clusterCommand(name, description).addArgument(
      new Argument('[system]', 'which system it serves').choices([BASELINE]).default(BASELINE),
    )

  systemCommand('webhook', 'judge writes to managed objects before they are stored')
    .addOption(listenOption('--listen <address>', 'where the API server reaches us', ':9443'))
    .addOption(opsListenOption())
    .addOption(enforcementOption())
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
    .action(async (_system, options) => {
      const hurry = spareMemory()
      await (await import('./webhook.ts')).webhook(options, hurry)
    })

  const reconciler = systemCommand('reconciler', 'create, heal and register, as one leader')
    .addOption(hcoNamespaceOption())
    .addOption(opsListenOption())
    .option('--no-leader-elect', 'act without holding the Lease: only where nobody else can')
    .addOption(durationOption('--resync <duration>', 'compare everything this often', '5m'))
    .addOption(disruptiveChangesOption('hold').default('hold'))
    .addOption(activationOption('on').default('on'))
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
    .action(async (_system, options) => {
      spareMemory()
      await (await import('./reconciler.ts')).reconciler(options, env)
    })
  return { reconciler }
}
