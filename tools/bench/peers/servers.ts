import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { connect } from 'node:tls'

import { SERVING_SECRET } from '../../../src/shared/baseline/names.ts'
import { NAMESPACE } from '../../../test/cluster/program.ts'
import { freePort, serve } from '../../control-plane/ports.ts'
import { spawnLeashed } from '../../control-plane/processes.ts'
import type { Bench } from '../bench.ts'
import { onOneCore } from '../processes.ts'
import { builtGoPeer } from './go-peer.ts'

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

/** Writes the webhook's own certificate where its peers read theirs. */
export async function writeCertificate({ read }: Bench, folder: string): Promise<void> {
  const { data } = await read(`/api/v1/namespaces/${NAMESPACE}/secrets/${SERVING_SECRET}`)
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(join(folder, name), Buffer.from(data[name], 'base64'), { mode: 0o600 })
}

/** Starts the bare Fastify server, bundled as the product is, with a folder that has tls.crt and tls.key. */
export async function startFloor(folder: string): Promise<Server> {
  const bundle = join(folder, 'bare-fastify')
  const args = [join(ROOT, 'tools/build.mjs'), FLOOR_ENTRY, bundle]
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('bundling the bare Fastify server failed', { cause: error })
  const packageFile = createRequire(import.meta.url).resolve('fastify/package.json')
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  return start(FLOOR, folder, [`fastify ${version}`], (port) => [
    process.execPath,
    join(bundle, 'bare-fastify.js'),
    String(port),
    folder,
  ])
}

/** Starts the webhook in Go with the same folder; throws where there is no Go to build it. */
export async function startGoPeer(folder: string): Promise<Server> {
  const { program, versions } = await builtGoPeer(process.env, (line) => console.error(line))
  return start('controller-runtime', folder, versions, (port) => [
    program,
    `-port=${port}`,
    `-certificates=${folder}`,
  ])
}

async function start(
  name: string,
  folder: string,
  versions: readonly string[],
  commandAt: (port: number) => readonly [file: string, ...args: string[]],
): Promise<Server> {
  const { process: child, ports: port } = await serve({
    ports: freePort,
    start(port) {
      // From its first moment: Go counts its cores when it starts.
      const [file, ...args] = onOneCore(commandAt(port))
      const env = { PATH: process.env.PATH ?? '' }
      const logFile = join(folder, `${name.replace(' ', '-')}.log`)
      return spawnLeashed({ name, file, args, cwd: folder, env, logFile })
    },
    isReady: (port) => handshakes(port),
  })
  const url = `https://127.0.0.1:${port}`
  return { name, url, pid: child.pid, versions, end: () => child.kill() }
}

/** Whether somebody speaks TLS there; whose certificate it is will be seen when it is asked. */
function handshakes(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
