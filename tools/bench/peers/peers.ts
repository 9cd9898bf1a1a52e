import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { NAMESPACE } from '../../../test/cluster/harness/program.ts'
import { freePort, serve } from '../../control-plane/ports.ts'
import { spawnLeashed } from '../../control-plane/processes.ts'
import { send } from '../../control-plane/request.ts'
import { findGo } from '../../go-programs/go.ts'
import { withProgress } from '../../go-programs/progress.ts'
import type { Bench } from '../bench.ts'
import { onOneCore } from '../processes.ts'

/** A server that answers reviews, to be measured. */
export interface Server {
  readonly name: string
  readonly url: string
  readonly pid: number
  /** Of what it is made, where that is not the product. */
  readonly versions: readonly string[]
  readonly end: () => Promise<void>
}

const ROOT = join(import.meta.dirname, '../../..')
const GO_MODULE = join(import.meta.dirname, 'go')
const GO_FLAGS = ['-modcacherw', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']
/** The name of the server that decides nothing. */
export const FLOOR = 'bare Fastify'

/** The product's own server, which goes on when it was measured. */
export const webhookOf = ({ autopilot }: Bench): Server => ({
  name: 'the webhook',
  url: autopilot.webhookUrl,
  pid: autopilot.webhook.child().pid,
  versions: [],
  end: async () => undefined,
})

/** The peers, each with the webhook's own certificate, and why one of them is missing. */
export async function startPeers({ dataDir, read, authority }: Bench) {
  // It goes with the cluster, whatever ends us: there is a key in it.
  const folder = mkdtempSync(join(dataDir, 'peers-'))
  const { data } = await read(`/api/v1/namespaces/${NAMESPACE}/secrets/${BASELINE.servingSecret}`)
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(join(folder, name), Buffer.from(data[name], 'base64'), { mode: 0o600 })
  const place = { folder, ca: await authority() }
  const floor = await startFloor(place)
  return startGoPeer(place).then(
    (server) => ({ peers: [floor, server], problem: [] }),
    (error: Error) => ({
      peers: [floor],
      problem: [`The peer in Go is missing: ${error.message.split('\n')[0]}`],
    }),
  )
}

/** A folder with tls.crt and tls.key, which takes logs, and whom to trust for them. */
interface Place {
  readonly folder: string
  readonly ca: string
}

/** Starts the bare Fastify server, bundled as the product is. */
async function startFloor(place: Place): Promise<Server> {
  const bundle = join(place.folder, 'bare-fastify')
  const args = ['tools/build.mjs', 'tools/bench/peers/bare-fastify.ts', bundle]
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('bundling the bare Fastify server failed', { cause: error })
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const program = [process.execPath, join(bundle, 'bare-fastify.js')] as const
  return start(FLOOR, place, [`fastify ${dependencies.fastify}`], program)
}

/** Builds and starts the webhook in Go; throws where there is no Go to build it. */
async function startGoPeer(place: Place): Promise<Server> {
  const purpose = { title: 'the peer in Go', way: 'do without this peer' }
  const go = await findGo(purpose, process.env, GO_MODULE)
  const program = join(place.folder, 'go-peer')
  const options = { cwd: GO_MODULE, env: { ...go.env, GOTMPDIR: place.folder } }
  const built = promisify(execFile)('go', ['build', ...GO_FLAGS, '-o', program, '.'], options)
  await withProgress('building the webhook in Go', built, (line) => console.error(line))
  const definition = readFileSync(join(GO_MODULE, 'go.mod'), 'utf8')
  const [, version] = /^\s*sigs\.k8s\.io\/controller-runtime v(\S+)/m.exec(definition) ?? []
  const versions = [`Go ${go.version.replace(/^go/, '')}`, `controller-runtime ${version}`]
  return start('controller-runtime', place, versions, [program])
}

/** Starts a program, told its port and the folder with the certificate, on the core of the measured server. */
async function start(
  name: string,
  { folder: cwd, ca }: Place,
  versions: readonly string[],
  program: readonly [file: string, ...args: string[]],
): Promise<Server> {
  const { process: child, ports: port } = await serve({
    ports: freePort,
    start(port) {
      // From its first moment: Go counts its cores when it starts.
      const [file, ...args] = onOneCore([...program, String(port), cwd])
      const env = { PATH: process.env.PATH ?? '' }
      const logFile = join(cwd, `${name.replace(' ', '-')}.log`)
      return spawnLeashed({ name, file, args, cwd, env, logFile })
    },
    isReady: async (port) => (await send(`https://127.0.0.1:${port}`, { ca })).status > 0,
  })
  const url = `https://127.0.0.1:${port}`
  return { name, url, pid: child.pid, versions, end: () => child.kill() }
}
