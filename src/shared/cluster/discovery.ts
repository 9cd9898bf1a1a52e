import type { Client } from './client.ts'

/** What the API server serves, by `group/Kind`. */
export type Served = ReadonlyMap<string, ServedKind>

export interface ServedKind {
  readonly versions: readonly string[]
  readonly resource: string
  /** Undefined where nobody has said. */
  readonly isNamespaced?: boolean
}

/** Asks what is served; an unchanged answer costs the server next to nothing. */
export type Discover = () => Promise<Served>

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Creates a discovery that remembers the last answer of each root by its ETag. */
export function createDiscovery(client: Client): Discover {
  const roots = ['/api', '/apis'].map((path) => createRoot(client, path))
  return async () => new Map((await Promise.all(roots.map((root) => root()))).flat())
}

type Entry = readonly [key: string, ServedKind]

function createRoot(client: Client, path: string): () => Promise<readonly Entry[]> {
  let etag: string | undefined
  let entries: readonly Entry[] = []
  return async () => {
    const { status, headers, body } = await client.send(path, {
      accept: AGGREGATED,
      headers: etag === undefined ? {} : { 'if-none-match': etag },
    })
    if (status === 304) return entries
    etag = typeof headers.etag === 'string' ? headers.etag : undefined
    entries = (body as GroupList).items.flatMap(entriesOf)
    return entries
  }
}

interface GroupList {
  readonly items: readonly Group[]
}
interface Group {
  readonly metadata?: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly freshness?: string
    readonly resources?: readonly {
      readonly resource: string
      readonly scope?: 'Cluster' | 'Namespaced'
      readonly responseKind?: { readonly kind: string }
    }[]
  }[]
}

function entriesOf({ metadata, versions }: Group): readonly Entry[] {
  const kinds = new Map<string, ServedKind & { versions: string[] }>()
  for (const { version, resources = [] } of versions) {
    for (const { resource, scope, responseKind } of resources) {
      if (!responseKind?.kind) continue
      const key = `${metadata?.name ?? ''}/${responseKind.kind}`
      const known = kinds.get(key) ?? {
        versions: [],
        resource,
        isNamespaced: scope === 'Namespaced',
      }
      known.versions.push(version)
      kinds.set(key, known)
    }
  }
  return [...kinds]
}
