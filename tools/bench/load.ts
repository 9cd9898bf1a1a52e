import { setImmediate as nextTurn } from 'node:timers/promises'
import { Pool } from 'undici'

/** Sends one request and gives back its answer. */
export type Send = () => Promise<unknown>

/** When each request was answered, and how long it took, in milliseconds. */
export interface Load {
  readonly from: number
  readonly to: number
  readonly answeredAt: readonly number[]
  readonly tookMs: readonly number[]
}

const MOST = 100_000

// What the API server agrees on with itself: without it Node and Go would each choose another cipher.
export const TLS = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
} as const

/** Kept-alive connections to the webhook that trust its authority alone. */
export function connectTo(url: string, ca: string, connections: number) {
  // The API server asks ours by HTTP/1.1; all are asked the same way.
  const options = { connections, pipelining: 1, allowH2: false }
  const pool = new Pool(url, { ...options, connect: { ca, ...TLS } })
  const post = async (body: Buffer): Promise<unknown> => {
    const reply = await pool.request({
      path: '/mutate?timeout=1s',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const text = await reply.body.text()
    if (reply.statusCode !== 200) throw new Error(`the webhook answers ${reply.statusCode} ${text}`)
    return text
  }
  return { post, close: () => pool.destroy() }
}

/** Each of so many senders sends its next request when the last one is answered. */
export async function closedLoop(send: Send, senders: number, forMs: number): Promise<Load> {
  const answeredAt: number[] = []
  const tookMs: number[] = []
  const from = performance.now()
  const to = from + forMs
  const sender = async () => {
    while (performance.now() < to && answeredAt.length < MOST) {
      const sentAt = performance.now()
      await send()
      const now = performance.now()
      answeredAt.push(now)
      tookMs.push(now - sentAt)
    }
  }
  await Promise.all(Array.from({ length: senders }, sender))
  return { from, to, answeredAt, tookMs }
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
  const answeredAt: number[] = []
  const tookMs: number[] = []
  const pending: Promise<void>[] = []
  const from = performance.now()
  const to = from + forMs
  const dueAt = (request: number) => from + (1000 * request) / perSecond
  while (dueAt(pending.length) < to && pending.length < MOST) {
    const due = dueAt(pending.length)
    if (performance.now() < due) {
      await wait()
      continue
    }
    const answered = send().then(() => {
      const now = performance.now()
      answeredAt.push(now)
      tookMs.push(now - due)
    })
    // Whoever waits for all of them hears of it.
    answered.catch(() => undefined)
    pending.push(answered)
  }
  await Promise.all(pending)
  return { from, to, answeredAt, tookMs }
}
