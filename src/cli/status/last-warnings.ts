import { FIELD_MANAGER } from '../../shared/baseline/annotations.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { warn } from '../run-cli.ts'

const EVENTS = '/apis/events.k8s.io/v1/events'
const PAGE = 500
// The API server keeps events for an hour; whatever fills it with more of ours must not keep a person waiting.
const MOST_PAGES = 40

/** The last warning for each asset, as far as events are kept and can be read: they only add to what is told. */
export async function lastWarnings(
  client: Pick<Client, 'send'>,
  catalog: Catalog,
): Promise<ReadonlyMap<string, string>> {
  const inTime = (await readWarnings(client)).toSorted((a, b) =>
    String(a.eventTime) < String(b.eventTime) ? -1 : 1,
  )
  return new Map(
    inTime.flatMap(({ note = '', reason }) => {
      const [name = '', ...rest] = note.split(': ')
      const isOfAsset = catalog.some((asset) => asset.name === name)
      return isOfAsset ? [[name, `${reason}: ${rest.join(': ')}`] as const] : []
    }),
  )
}

interface SeenEvent {
  readonly eventTime?: string
  readonly reason: string
  readonly note?: string
}

interface EventPage {
  readonly items: readonly SeenEvent[]
  readonly metadata?: { readonly continue?: string }
}

/** All of them: the API server lists them by name, so that the newest may be on any page. */
async function readWarnings(client: Pick<Client, 'send'>): Promise<readonly SeenEvent[]> {
  const fieldSelector = `type=Warning,reportingController=${FIELD_MANAGER}`
  const events: SeenEvent[] = []
  let next: string | undefined
  try {
    for (let page = 0; page < MOST_PAGES; page++) {
      const query = { fieldSelector, limit: PAGE, continue: next }
      const { items, metadata } = (await client.send(EVENTS, { query })).body as EventPage
      for (const item of items) events.push(item)
      next = metadata?.continue || undefined
      if (next === undefined) return events
    }
    warn(`there are more than ${events.length} events: newer warnings may be left out`)
  } catch (error) {
    warn(`events cannot be read, and some are left out: ${(error as Error).message}`)
  }
  return events
}
