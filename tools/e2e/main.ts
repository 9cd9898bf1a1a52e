import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { parse } from 'yaml'
import { runCli, UsageError } from '../../src/cli/run-cli.ts'
import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { embeddedSite } from '../../test/cluster/chart/embedded-site.ts'
import type { Site } from '../../test/e2e/rehearsal.ts'
import { findBinaries } from '../go-programs/binaries.ts'
import { findTool } from '../go-programs/tools.ts'
import { findEngine, type Run } from './engine.ts'
import { createKindCluster } from './kind.ts'
import { type RehearsalOptions, rehearse } from './rehearse.ts'

interface Options {
  readonly kubeconfig?: string
  readonly values?: string
  readonly embedded?: boolean
  readonly yesChangeThisCluster?: boolean
  readonly keep?: boolean
}

const { env } = process
const print = (line: string) => console.log(line)

const program = new Command('npm run e2e --')
  .description(
    'Rehearses the whole life of an installation, by default on a cluster that kind makes.',
  )
  .option('--kubeconfig <file>', 'on this cluster instead')
  .option('--values <file>', 'with --kubeconfig: values for the chart, such as where its image is')
  .option(
    '--yes-change-this-cluster',
    'with --kubeconfig: although its platform is brought to the baseline',
  )
  .option('--embedded', 'on the embedded control plane instead, without containers')
  .option('--keep', 'leave the cluster, and what it was brought, as they are at the end')
  .exitOverride()
  .action(main)

async function main(options: Options): Promise<void> {
  const how = {
    mayChange: options.yesChangeThisCluster ?? false,
    isKept: options.keep ?? false,
    print,
    signal: signalOnTermination(),
  }
  if (options.embedded) return onEmbedded(how)
  if (options.values !== undefined && options.kubeconfig === undefined)
    throw new UsageError('--values needs --kubeconfig FILE')
  const folder = mkdtempSync(join(tmpdir(), 'virt-platform-autopilot-e2e-'))
  try {
    if (options.kubeconfig === undefined) return await onKind(how, folder)
    const values = options.values === undefined ? {} : parse(readFileSync(options.values, 'utf8'))
    const kubeconfig = resolve(options.kubeconfig)
    return await rehearse(await siteOf({ kubeconfig, values, folder }), how)
  } finally {
    if (!how.isKept) rmSync(folder, { recursive: true, force: true })
  }
}

async function siteOf(site: Pick<Site, 'kubeconfig' | 'values' | 'folder'>): Promise<Site> {
  const { kubectl } = await findBinaries({ env, print, controllers: false })
  return { ...site, kubectl, helm: await findTool('helm', env, print), path: env.PATH ?? '' }
}

async function onKind(how: RehearsalOptions, folder: string): Promise<void> {
  const engine = await findEngine(async (file, args) => {
    await promisify(execFile)(file, args)
  })
  const name = `virt-platform-autopilot-${randomBytes(3).toString('hex')}`
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  )
  const kind = await findTool('kind', env, print)
  const cluster = await createKindCluster({
    kind,
    engine,
    run: runFor(engine),
    name,
    folder,
    version,
  })
  const { kubeconfig, image } = cluster
  try {
    await rehearse(await siteOf({ kubeconfig, folder, values: { image } }), {
      ...how,
      isKept: true,
    })
  } finally {
    if (how.isKept) print(`export KUBECONFIG=${kubeconfig}\n${kind} delete cluster --name=${name}`)
    else await cluster.remove()
  }
}

const runFor =
  (engine: string): Run =>
  async (file, args) => {
    print(`> ${[file, ...args].join(' ')}`)
    const child = spawn(file, args, {
      stdio: 'inherit',
      env: { ...env, KIND_EXPERIMENTAL_PROVIDER: engine },
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`${file} ${args[0]} failed`)
  }

async function onEmbedded(how: RehearsalOptions): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  try {
    const teardown = (end: () => Promise<void>) => void ends.push(end)
    await rehearse(await embeddedSite({ teardown, comment: print }, { crds: false }), how)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

process.exit(await runCli(program, process.argv.slice(2), process.stderr))
