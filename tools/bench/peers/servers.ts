import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { NAMESPACE } from '../../../test/cluster/harness/program.ts'
import { freePort, serve } from '../../control-plane/ports.ts'
import { spawnLeashed } from '../../control-plane/processes.ts'
import { send } from '../../control-plane/request.ts'
import type { Bench } from '../bench.ts'
import { onOneCore } from '../processes.ts'
import { buildGoPeer } from './go-peer.ts'

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
/** The name of the server that decides nothing. */
export const FLOOR = 'bare Fastify'
const FLOOR_ENTRY = 'tools/bench/peers/bare-fastify.ts'
/** The name of the product's own server among its peers. */
export const WEBHOOK = 'the webhook'

/** The product's own server, which goes on when it was measured. */
export const webhookOf = ({ autopilot }: Bench): Server => ({
  name: WEBHOOK,
  url: autopilot.webhookUrl,
  pid: autopilot.webhook.child().pid,
  versions: [],
  end: async () => undefined,
})

/** What a peer needs to serve in the webhook's place. */
export interface Place {
  /** It has the webhook's own tls.crt and tls.key, and takes logs. */
  readonly folder: string
  readonly ca: string
}

/** A folder with the webhook's certificate. It goes with the cluster, whatever ends us: there is a key in it. */
export async function createPlace({ dataDir, read, authority }: Bench): Promise<Place> {
  const folder = mkdtempSync(join(dataDir, 'peers-'))
  const { data } = await read(`/api/v1/namespaces/${NAMESPACE}/secrets/${BASELINE.servingSecret}`)
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(join(folder, name), Buffer.from(data[name], 'base64'), { mode: 0o600 })
  return { folder, ca: await authority() }
}

/** Starts the bare Fastify server, bundled as the product is. */
export async function startFloor(place: Place): Promise<Server> {
  const bundle = join(place.folder, 'bare-fastify')
  const args = [join(ROOT, 'tools/build.mjs'), FLOOR_ENTRY, bundle]
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('bundling the bare Fastify server failed', { cause: error })
  const packageFile = createRequire(import.meta.url).resolve('fastify/package.json')
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const program = [process.execPath, join(bundle, 'bare-fastify.js')] as const
  const commandAt = (port: number) => [...program, String(port), place.folder] as const
  return start(FLOOR, place, [`fastify ${version}`], commandAt)
}

/** Starts the webhook in Go; throws where there is no Go to build it. */
export async function startGoPeer(place: Place): Promise<Server> {
  const { program, versions } = await buildGoPeer(place.folder)
  const commandAt = (port: number) =>
    [program, `-port=${port}`, `-certificates=${place.folder}`] as const
  return start('controller-runtime', place, versions, commandAt)
}

async function start(
  name: string,
  { folder: cwd, ca }: Place,
  versions: readonly string[],
  commandAt: (port: number) => readonly [file: string, ...args: string[]],
): Promise<Server> {
  const { process: child, ports: port } = await serve({
    ports: freePort,
    start(port) {
      // From its first moment: Go counts its cores when it starts.
      const [file, ...args] = onOneCore(commandAt(port))
      const env = { PATH: process.env.PATH ?? '' }
      const logFile = join(cwd, `${name.replace(' ', '-')}.log`)
      return spawnLeashed({ name, file, args, cwd, env, logFile })
    },
    isReady: async (port) => (await send(`https://127.0.0.1:${port}`, { ca })).status > 0,
  })
  const url = `https://127.0.0.1:${port}`
  return { name, url, pid: child.pid, versions, end: () => child.kill() }
}
