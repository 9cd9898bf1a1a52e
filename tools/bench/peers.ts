import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { SERVING_SECRET } from '../../src/shared/baseline/names.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import { NAMESPACE } from '../../test/cluster/harness/program.ts'
import { authority } from './authority.ts'
import type { Bench } from './cluster.ts'
import { pinApart } from './cores.ts'
import { closedLoop, connectTo, TLS } from './load.ts'
import { comparisonGrid, cpuLines, type Measured, WEBHOOK } from './peers/report.ts'
import { compareTo, type Run, rotated } from './peers/rounds.ts'
import { FLOOR, type Peer, startFloor, startGoPeer } from './peers/start.ts'
import { cpuSeconds } from './process-numbers.ts'
import { GOAL_BYTES, type Review, type ReviewAnswer, reviewsOf, UID } from './reviews.ts'
import { median, quantile } from './statistics.ts'
import type { Section } from './table.ts'

/** The number of connections for which the goals are stated. */
const MANY = 16
const CONNECTIONS = [1, MANY, 64]
const LARGE_BYTES = 100_000

/** The webhook beside a server that decides nothing and beside the same webhook in Go, on one core each. */
export async function measurePeers(bench: Bench): Promise<Section> {
  // It goes with the cluster, whatever ends us: there is a key in it.
  const folder = mkdtempSync(join(bench.plane.dataDir, 'peers-'))
  const peers: Peer[] = []
  const { pid } = bench.autopilot.webhook.child()
  const url = bench.autopilot.webhookUrl
  peers.push({ name: WEBHOOK, url, pid, versions: [], end: async () => undefined })
  try {
    await writeCertificate(bench, folder)
    peers.unshift(await startFloor(folder))
    const whyNoGo = await addGoPeer(peers, folder)
    const { note, release } = pinApart(pid)
    try {
      return await measureAll(bench, peers, [...(whyNoGo ? [whyNoGo] : []), note])
    } finally {
      release()
    }
  } finally {
    for (const peer of peers) await peer.end()
  }
}

/** Adds the peer in Go; where there is nothing to build it with, says so instead. */
async function addGoPeer(peers: Peer[], folder: string): Promise<string | undefined> {
  try {
    peers.push(await startGoPeer(folder, (line) => console.error(line)))
    return undefined
  } catch (error) {
    const [why = ''] = (error as Error).message.split('\n')
    console.error(error)
    return `The peer in Go is missing: ${why}`
  }
}

async function measureAll(
  bench: Bench,
  peers: readonly Peer[],
  notes: readonly string[],
): Promise<Section> {
  const ca = await authority(bench)
  const small = await reviewsOf(bench, GOAL_BYTES)
  // Node compiles what is often used: whoever was asked little so far is slow, and not for long.
  for (const review of small) await measureOne(bench, peers, review, MANY, ca, 1)
  const measured: Measured[] = []
  for (const review of [...small, ...(await reviewsOf(bench, LARGE_BYTES))]) {
    for (const connections of CONNECTIONS)
      measured.push(await measureOne(bench, peers, review, connections, ca))
  }
  const { peerRounds, peerMs } = bench.effort
  return {
    title: `Processor time of a decision at 5 kB and ${MANY} connections, beside a server that decides nothing and one in Go`,
    lines: cpuLines(measured.filter(({ connections }) => connections === MANY)),
    grids: measured.map(comparisonGrid),
    notes: [
      ...notes,
      `${peerRounds} rounds of ${peerMs / 1000} s of each in turn; numbers are medians of the rounds, ratios medians of each round’s.`,
      'Each sender waits for its answer before it sends again, so more connections mean longer waits at the same rate.',
      `All have the same certificate and the same requests, by ${TLS.minVersion} with ${TLS.ciphers}; all answers were checked first.`,
      'bare Fastify parses a request and allows it. controller-runtime compares the same fields, and does nothing else that the webhook does.',
    ],
    versions: peers.flatMap(({ versions }) => versions),
  }
}

async function measureOne(
  { effort }: Bench,
  peers: readonly Peer[],
  review: Review,
  connections: number,
  ca: string,
  rounds = effort.peerRounds,
): Promise<Measured> {
  const runs = new Map(peers.map(({ name }) => [name, [] as Run[]]))
  const asked = peers.map((peer) => ({ peer, pool: connectTo(peer.url, ca, connections) }))
  try {
    for (const { peer, pool } of asked) {
      await check(peer, review, pool.post)
      await closedLoop(senderOf(pool, review, 'warm-up'), connections, effort.peerMs / 2)
    }
    for (let round = 0; round < rounds; round++) {
      for (const { peer, pool } of rotated(asked, round)) {
        // Of each load another user: whoever insists for long may be answered otherwise.
        const send = senderOf(pool, review, `user-${connections}-${round}`)
        runs.get(peer.name)?.push(await runOf(peer, send, connections, effort.peerMs))
      }
    }
    for (const { peer, pool } of asked) await check(peer, review, pool.post)
  } finally {
    await Promise.all(asked.map(({ pool }) => pool.close()))
  }
  const floor = [...runs.values()][0] ?? []
  const servers = [...runs].map(([name, own]) => ({ name, ...compareTo(floor, own) }))
  return { what: review.what, objectBytes: review.objectBytes, connections, servers }
}

type Pool = ReturnType<typeof connectTo>

function senderOf(pool: Pool, { bodyFor }: Review, user: string) {
  const body = bodyFor(user)
  return () => pool.post(body)
}

async function runOf(
  { pid }: Peer,
  send: () => Promise<unknown>,
  connections: number,
  forMs: number,
): Promise<Run> {
  const before = cpuSeconds(pid)
  const { from, answeredAt, tookMs } = await closedLoop(send, connections, forMs)
  const after = cpuSeconds(pid)
  const seconds = ((answeredAt.at(-1) ?? from) - from) / 1000
  const count = answeredAt.length
  return {
    perSecond: count / seconds,
    cpu:
      before === undefined || after === undefined ? undefined : (1000 * (after - before)) / count,
    p50Ms: median(tookMs),
    p99Ms: quantile(tookMs, 0.99),
  }
}

/** Throws where a server does not answer as it must: the floor allows everything as it is. */
async function check(peer: Peer, review: Review, post: Pool['post']): Promise<void> {
  const text = String(await post(review.bodyFor('checking')))
  const answer = JSON.parse(text) as ReviewAnswer
  const { uid, allowed, patch } = answer.response
  const isRight =
    peer.name === FLOOR ? uid === UID && allowed && patch === undefined : review.isExpected(answer)
  if (!isRight) throw new Error(`${peer.name} does not answer with a ${review.what}: ${text}`)
}

/** Writes the webhook's own certificate where its peers read theirs. */
async function writeCertificate({ client }: Bench, folder: string): Promise<void> {
  const at = { apiVersion: 'v1', resource: 'secrets', namespace: NAMESPACE }
  const { body } = await client.send(pathOf(at, SERVING_SECRET))
  const { data } = body as { data: Readonly<Record<string, string>> }
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(join(folder, name), Buffer.from(data[name] ?? '', 'base64'), { mode: 0o600 })
}
