import { Argument, type Command } from 'commander'
import type { Env } from '../../shared/ops/env.ts'
import {
  activationOption,
  disruptiveChangesOption,
  durationOption,
  enforcementOption,
  hcoNamespaceOption,
  opsListenOption,
  parseCount,
} from '../options.ts'
import { spareMemory } from './memory.ts'
import { withEndpoint, withPolicy } from './registration.ts'
import { shutdownGraceOption, withCertificates, withListeners } from './serving.ts'

/** The system that is run where none is named. */
const BASELINE = 'baseline'

/** The baseline as the argument of a command; another system's commands go below it. */
export const systemArgument = (description: string) =>
  new Argument('[system]', description).choices([BASELINE]).default(BASELINE)

/** Adds the commands of the baseline's two processes, each of which loads only its own code; another system's go below them. */
export function addProcessCommands(
  clusterCommand: (name: string, description: string) => Command,
  env: Env,
): { readonly webhook: Command; readonly reconciler: Command } {
  const systemCommand = (name: string, description: string) =>
    clusterCommand(name, description).addArgument(systemArgument('which system it serves'))

  const webhook = withCertificates(
    withListeners(
      systemCommand('webhook', 'judge writes to managed objects before they are stored'),
    ).addOption(enforcementOption()),
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
    .addOption(shutdownGraceOption())
    .action(async (_system, options) => {
      const hurry = spareMemory()
      await (await import('./webhook.ts')).webhook(options, hurry)
    })

  const acting = systemCommand('reconciler', 'create, heal and register, as one leader')
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
  const trusting = withPolicy(acting).option(
    '--trusted-user <name>',
    'the user whose writes the webhook never sees; default: the reconciler’s ServiceAccount',
  )
  const reconciler = withEndpoint(trusting, 'virt-platform-autopilot-webhook')
    .option('--observe', 'compute and report only, write nothing')
    .action(async (_system, options) => {
      spareMemory()
      await (await import('./reconciler.ts')).reconciler(options, env)
    })
  return { webhook, reconciler }
}
