import t from 'tap'

import { lastWarnings } from '../../../../src/cli/status/last-warnings.ts'
import type { RequestInput } from '../../../../src/shared/cluster/client.ts'
import { catalog } from '../../baseline/facts.ts'

const event = (eventTime: string, note: string, reason = 'ApplyFailed') => ({
  eventTime,
  note,
  reason,
})

/** An API server that answers for each `continue`, and what it was asked for. */
function answering(answers: (next: unknown) => object) {
  const asked: unknown[] = []
  const send = async (_path: string, { query }: RequestInput = {}) => {
    asked.push(query?.continue)
    return { status: 200, headers: {}, body: answers(query?.continue) }
  }
  return { asked, client: { send } }
}

t.test('the newest warning counts, on whatever page it is', async (t) => {
  const pages = [
    [event('2026-08-01T10:00:02.000000Z', 'metallb: second: and last'), event('', 'who: cares')],
    [event('2026-08-01T10:00:01.000000Z', 'metallb: first')],
    [event('2026-08-01T09:00:00.000000Z', 'swap-enable: reboots', 'DisruptionPending')],
  ]
  const { asked, client } = answering((next = 0) => ({
    items: pages[Number(next)],
    metadata: { continue: Number(next) < 2 ? `${Number(next) + 1}` : '' },
  }))
  t.same(
    [...(await lastWarnings(client, catalog))],
    [
      ['swap-enable', 'DisruptionPending: reboots'],
      ['metallb', 'ApplyFailed: second: and last'],
    ],
  )
  t.same(asked, [undefined, '1', '2'])
})

t.test('what cannot be read is told and left out', async (t) => {
  const { client } = answering((next) => {
    if (next) throw new Error('GET events: 410 Expired')
    return { items: [event('2026', 'metallb: first')], metadata: { continue: 'x' } }
  })
  const said = t.capture(process.stderr, 'write', () => true)
  t.same([...(await lastWarnings(client, catalog))], [['metallb', 'ApplyFailed: first']])
  t.match(
    said().map(({ args }) => args[0]),
    [/events cannot be read, .*410 Expired\n$/],
  )
})

t.test('does not read for ever', async (t) => {
  const { asked, client } = answering(() => ({
    items: [event('2026', 'metallb: first')],
    metadata: { continue: 'x' },
  }))
  const said = t.capture(process.stderr, 'write', () => true)
  t.equal((await lastWarnings(client, catalog)).size, 1)
  t.ok(asked.length < 100)
  t.match(
    said().map(({ args }) => args[0]),
    [/more than \d+ events: newer warnings may be left/],
  )
})
