import type { Command } from 'commander'
import { Argument, Option } from 'commander'
import type { Env } from '../../shared/ops/env.ts'
import { durationOption, kubeconfigOption, opsListenOption, parseCount } from '../options.ts'
import { spareMemory } from '../processes/memory.ts'
import { withEndpoint, withPolicy } from '../processes/registration.ts'
import { shutdownGraceOption, withCertificates, withListeners } from '../processes/serving.ts'
import { addGraphCommand } from './graph-command.ts'

export interface GraphCommandsInput {
  readonly program: Command
  readonly commandOf: (parent: Command, name: string, description: string) => Command
  /** Of the baseline: the system's own are below them. */
  readonly webhook: Command
  readonly reconciler: Command
  readonly unregister: Command
}

/** Where the system lives where nothing says otherwise: never in the baseline's namespace. */
const NAMESPACE = 'virt-platform-autopilot-graph'

/** Adds the commands of the system `graph`. */
export function addGraphCommands(input: GraphCommandsInput, env: Env): void {
  const { program, commandOf, webhook, reconciler, unregister } = input
  const systems = new Argument('<system>', 'which system').choices(['graph'])

  // Else the baseline's options would be taken for its own wherever they stand.
  for (const parent of [program, webhook, reconciler, unregister]) parent.enablePositionalOptions()
  const systemCommand = (parent: Command, description: string) =>
    commandOf(parent, 'graph', description)
      .option('--namespace <name>', 'our own namespace', NAMESPACE)
      .addOption(kubeconfigOption())
      .addOption(
        new Option(
          '--cue-evaluator <file>',
          'the program that evaluates CUE; default: CUE_EVALUATOR, which the image has',
        )
          .default(env.CUE_EVALUATOR)
          .makeOptionMandatory(),
      )

  withCertificates(withListeners(systemCommand(webhook, 'judge Transforms before they are stored')))
    .addOption(shutdownGraceOption())
    .action(async (options) => {
      spareMemory()
      await (await import('./webhook.ts')).graphWebhook(options)
    })

  const acting = systemCommand(
    reconciler,
    'render Transforms and keep what they make, as one leader',
  )
    .addOption(opsListenOption())
    .option('--no-leader-elect', 'act without holding the Lease: only where nobody else can')
    .addOption(durationOption('--resync <duration>', 'look at everything this often', '5m'))
    .option(
      '--heal-limit <count>',
      'how often an object is put back within --heal-window',
      parseCount,
      5,
    )
    .addOption(
      durationOption(
        '--heal-window <duration>',
        'within which an object is put back so often, and for which it is left alone then',
        '1m',
      ),
    )
  withEndpoint(withPolicy(acting), `${NAMESPACE}-webhook`).action(async (options) => {
    spareMemory()
    await (await import('./reconciler.ts')).graphReconciler(options)
  })

  commandOf(
    unregister,
    'graph',
    'remove our webhook configurations and drop our finalizers: nothing is deleted, and nobody leads for two minutes',
  )
    .option('--namespace <name>', 'our own namespace', NAMESPACE)
    .addOption(kubeconfigOption())
    .action(async (options) => (await import('./unregister.ts')).unregisterGraph(options))

  commandOf(
    program,
    'crds',
    'print the CustomResourceDefinitions of a system and who may write them, for kubectl apply',
  )
    .addArgument(systems)
    .option('--namespace <name>', 'our own namespace', NAMESPACE)
    .action(async (_system, options) => (await import('./manifests.ts')).crds(options.namespace))

  commandOf(
    program,
    'enroll',
    'print what lets Transforms act in a namespace: their account, its rights, and that we may act as it',
  )
    .argument('<namespace>', 'the namespace of the Transforms')
    .option('--namespace <name>', 'our own namespace', NAMESPACE)
    .action(async (namespace, options) =>
      (await import('./manifests.ts')).enroll(namespace, options.namespace),
    )

  addGraphCommand(input, env)
}
