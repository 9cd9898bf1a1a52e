import { type Command, Option } from 'commander'
import type { Env } from '../../shared/ops/env.ts'
import { kubeconfigOption, outputOption } from '../options.ts'
import type { GraphCommandsInput } from './commands.ts'

/** Adds the command `graph` and those below it: what people ask about Transforms. */
export function addGraphCommand(
  { program, commandOf }: Pick<GraphCommandsInput, 'program' | 'commandOf'>,
  env: Env,
): void {
  const graph = commandOf(program, 'graph', 'render, check and compare Transforms')
  // An option after a command below this one is that one's own.
  graph.enablePositionalOptions()
  const command = (name: string, description: string) => commandOf(graph, name, description)
  const renderingCommand = (name: string, description: string) =>
    command(name, description)
      .option(
        '--policies <folder>',
        'a policy package; default: the one that comes with the program',
      )
      .option(
        '--cue-evaluator <file>',
        'the program that evaluates CUE; default: CUE_EVALUATOR, or the one of the image',
      )
  const offlineCommand = (name: string, description: string) =>
    renderingCommand(name, description).option(
      '-n, --namespace <name>',
      'of Transforms that say none',
      'default',
    )
  const onCluster = (made: Command) =>
    made
      .addOption(
        new Option('-n, --namespace <name>', 'of the Transform; default: the kubeconfig’s'),
      )
      .addOption(kubeconfigOption())

  offlineCommand(
    'render',
    'print what a Transform is rendered to: exit code 0 it is, 1 it is refused, 2 unreadable',
  )
    .argument('<file>', 'a file with one Transform, YAML or JSON; - for standard input')
    .option('--module <folder>', 'render the module of this folder, whatever the Transform names')
    .addOption(outputOption(['yaml', 'json'], 'its objects, or its nodes and what is violated'))
    .action(async (file, options) => {
      process.exitCode = await (await import('./offline/render.ts')).render(file, options, env)
    })

  offlineCommand(
    'check',
    'print what becomes of Transforms: exit code 0 all are accepted, 1 not, 2 unreadable',
  )
    .argument('<file...>', 'files and folders of YAML or JSON; - for standard input')
    .addOption(outputOption(['text', 'json'], 'a line for each cause, or all for scripts'))
    .action(async (files, options) => {
      process.exitCode = await (await import('./offline/check.ts')).check(files, options, env)
    })

  onCluster(
    renderingCommand(
      'diff',
      'print what a Transform would change in a cluster: exit code 0 nothing, 1 something, 2 unknown',
    ),
  )
    .argument('<transform>', 'a file with one Transform, - for standard input, or the name of one')
    .addOption(outputOption(['text', 'json'], 'what would change, or every object for scripts'))
    .action(async (target, options) => {
      process.exitCode = await (await import('./online/diff.ts')).diff(target, options, env)
    })

  onCluster(
    command(
      'tree',
      'print the nodes of a Transform, their states and why: exit code 0 ready, 1 not, 2 unknown',
    ),
  )
    .argument('<name>', 'the name of the Transform')
    .addOption(outputOption(['text', 'json'], 'a tree, or all for scripts'))
    .action(async (name, options) => {
      process.exitCode = await (await import('./online/tree.ts')).tree(name, options)
    })
}
