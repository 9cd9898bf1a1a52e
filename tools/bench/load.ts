import { setImmediate as nextTurn } from 'node:timers/promises'
import { Pool } from 'undici'

/** Sends one request and gives back its answer. */
export type Send = () => Promise<unknown>

/** How long each request of a load took, and how many were answered per second. */
export interface Load {
  readonly tookMs: readonly number[]
  readonly perSecond: number
}

const MOST = 100_000

// What the API server agrees on with itself: without it Node and Go would each choose another cipher.
export const TLS = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
} as const

/** Kept-alive connections to a webhook. */
export interface Connections {
  /** Sends one review and gives the text of the answer. */
  readonly post: (body: Buffer) => Promise<string>
  readonly close: () => Promise<void>
}

/** Connects to a webhook; trusts its authority alone. */
export function connectTo(url: string, ca: string, connections: number): Connections {
  // The API server asks webhooks by HTTP/1.1.
  const options = { connections, pipelining: 1, allowH2: false }
  const pool = new Pool(url, { ...options, connect: { ca, ...TLS } })
  return {
    async post(body) {
      const { statusCode, body: answer } = await pool.request({
        path: '/mutate?timeout=1s',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const text = await answer.text()
      if (statusCode !== 200) throw new Error(`the webhook answers ${statusCode} ${text}`)
      return text
    },
    close: () => pool.destroy(),
  }
}

/** Each of so many senders sends its next request when the last one is answered. */
export async function closedLoop(send: Send, senders: number, forMs: number): Promise<Load> {
  const tookMs: number[] = []
  const from = performance.now()
  const sender = async () => {
    while (performance.now() < from + forMs && tookMs.length < MOST) {
      const sentAt = performance.now()
      await send()
      tookMs.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: senders }, sender))
  return loadSince(from, tookMs)
}

/**
 * Requests fall due at a fixed rate, whether or not earlier ones are answered, and each is timed from
 * when it was due: what waits behind a slow answer counts too. By default no time is lost in waiting, at the price of
 * a core that does nothing else.
 */
export async function openLoop(
  send: Send,
  perSecond: number,
  forMs: number,
  wait: () => Promise<unknown> = () => nextTurn(),
): Promise<Load> {
  const tookMs: number[] = []
  const pending: Promise<void>[] = []
  const from = performance.now()
  const dueAt = (request: number) => from + (1000 * request) / perSecond
  while (dueAt(pending.length) < from + forMs && pending.length < MOST) {
    const due = dueAt(pending.length)
    if (performance.now() < due) {
      await wait()
      continue
    }
    const answered = send().then(() => void tookMs.push(performance.now() - due))
    // Whoever waits for all of them hears of it.
    answered.catch(() => undefined)
    pending.push(answered)
  }
  await Promise.all(pending)
  return loadSince(from, tookMs)
}

const loadSince = (from: number, tookMs: readonly number[]): Load => ({
  tookMs,
  perSecond: (1000 * tookMs.length) / (performance.now() - from),
})
