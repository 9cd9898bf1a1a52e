import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { connect } from 'node:tls'

import { freePort, serve } from '../../control-plane/ports.ts'
import { spawnLeashed } from '../../control-plane/processes.ts'
import { onOneCore } from '../cores.ts'
import { builtGoPeer } from './go-peer.ts'

/** A server that answers reviews, to be measured. */
export interface Peer {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly versions: readonly string[]
  readonly end: () => Promise<void>
}

const ROOT = join(import.meta.dirname, '../../..')
/** The name of the server that decides nothing. */
export const FLOOR = 'bare Fastify'
const FLOOR_ENTRY = 'tools/bench/peers/bare-fastify.ts'

/** Starts the bare Fastify server, bundled as the product is, with a folder that has tls.crt and tls.key. */
export async function startFloor(folder: string): Promise<Peer> {
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
export async function startGoPeer(folder: string, print: (line: string) => void): Promise<Peer> {
  const { program, versions } = await builtGoPeer(process.env, print)
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
): Promise<Peer> {
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
  return {
    name,
    url: `https://127.0.0.1:${port}`,
    pid: child.pid,
    versions,
    end: () => child.kill(),
  }
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
