import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Leashed, lastLines } from './processes.ts'

const ATTEMPTS = 5
const READY_WITHIN_MS = 60_000
const POLL_MS = 30

/** A program that serves on ports that were free a moment ago. */
export interface Served<Ports> {
  readonly process: Leashed
  readonly ports: Ports
}

/** How to start a program on some ports, and to see whether it is the one that answers there. */
export interface Service<Ports> {
  readonly ports: () => Promise<Ports>
  readonly start: (ports: Ports) => Leashed
  readonly isReady: (ports: Ports) => Promise<boolean>
}

/** Starts a program and waits until it serves; tries other ports while those it got are in use. */
export async function serve<Ports>(service: Service<Ports>): Promise<Served<Ports>> {
  for (let attempt = 1; ; attempt++) {
    const ports = await service.ports()
    const process = service.start(ports)
    try {
      await untilReady(process, () => service.isReady(ports))
      return { process, ports }
    } catch (error) {
      await process.kill()
      if (attempt === ATTEMPTS || !process.output().includes('address already in use')) throw error
    }
  }
}

// Below what kernels give to whoever asks for any port (from 32768 on Linux): between here and its use nobody gets it by chance.
const LOWEST = 10_000
const HIGHEST = 32_767

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (await isFree(port)) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

async function untilReady(process: Leashed, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  const isGone = process.ended.then(() => false)
  while (process.isRunning()) {
    // On a port that was taken meanwhile a stranger may keep us waiting.
    if (await Promise.race([isReady().catch(() => false), isGone])) return
    if (performance.now() > deadline) throw failure(process, `not ready in ${READY_WITHIN_MS} ms`)
    await sleep(POLL_MS)
  }
  throw failure(process, await process.ended)
}

function failure({ name, output }: Leashed, how: string): Error {
  return new Error(`starting ${name}: ${how}\n${lastLines(output())}`)
}
