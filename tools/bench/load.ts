import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { Pool } from 'undici'

/** How long each request of a load took, and how many were answered per second. */
export interface Load {
  readonly tookMs: readonly number[]
  readonly perSecond: number
}

/** How many ask at once, for how long, and how often: as often as they are answered, unless a rate is given. */
export interface LoadOptions {
  readonly senders: number
  readonly forMs: number
  readonly perSecond?: number
}

/** A timer may be late by this much: the rest is waited for without one. */
const TIMER_MS = 1.5

/** Sends requests. At a rate, each is timed from when it was due: what waits behind a slow answer counts too. */
export async function load(
  send: () => Promise<unknown>,
  { senders, forMs, perSecond }: LoadOptions,
): Promise<Load> {
  const tookMs: number[] = []
  const from = performance.now()
  let asked = 0
  const nextDue = () => (perSecond ? from + (1000 * asked++) / perSecond : performance.now())
  const sender = async () => {
    for (let due = nextDue(); due < from + forMs; due = nextDue()) {
      await until(due)
      await send()
      tookMs.push(performance.now() - due)
    }
  }
  await Promise.all(Array.from({ length: senders }, sender))
  return { tookMs, perSecond: (1000 * tookMs.length) / (performance.now() - from) }
}

async function until(due: number): Promise<void> {
  const waitMs = due - performance.now() - TIMER_MS
  if (waitMs >= 1) await sleep(waitMs)
  while (performance.now() < due) await turn()
}

/** What the API server agrees on with itself: without it Node and Go would each choose another cipher. */
export const TLS = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
} as const

/** Kept-alive connections to a webhook whose authority is trusted, by HTTP/1.1 as the API server asks. */
export function connectTo(url: string, ca: string, connections: number) {
  const options = { connections, pipelining: 1, allowH2: false }
  const pool = new Pool(url, { ...options, connect: { ca, ...TLS } })
  const headers = { 'content-type': 'application/json' }
  return {
    /** Sends one review and gives the text of the answer. */
    async post(body: Buffer): Promise<string> {
      const request = { path: '/mutate?timeout=1s', method: 'POST', headers, body } as const
      const { statusCode, body: answer } = await pool.request(request)
      const text = await answer.text()
      if (statusCode !== 200) throw new Error(`the webhook answers ${statusCode} ${text}`)
      return text
    },
    close: () => pool.destroy(),
  }
}
