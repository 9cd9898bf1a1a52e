import { Command, Option } from 'commander'

import { assetsOption, disruptiveChangesOption } from '../../src/cli/options.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { dev } from './dev.ts'

const program = new Command('npm start --')
  .description('Runs both processes, on an embedded control plane or on a cluster of your own.')
  .option('--kubeconfig <file>', 'use this cluster, observing only, instead of an embedded one')
  .option('--write', 'with --kubeconfig: change that cluster')
  .option(
    '--webhook-host <address>',
    'with --kubeconfig --write: our address as that cluster’s API server sees it',
  )
  .addOption(
    new Option('--systems <names>', 'which systems to run')
      .choices(['baseline', 'graph'])
      .default('baseline'),
  )
  .addOption(assetsOption())
  .addOption(disruptiveChangesOption('apply on the embedded cluster, hold on your own'))
  .exitOverride()
  .action((options) => dev(options, process.env))

const code = await runCli(program, process.argv.slice(2), process.stderr)
// What failed may have left watches and timers behind; what ended well has not.
if (code !== 0) process.exit(code)
