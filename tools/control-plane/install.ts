import { setTimeout as sleep } from 'node:timers/promises'
import { type Access, discoverKinds, type Kinds } from './kinds.ts'
import type { Manifest } from './manifests.ts'
import { type Reply, send } from './request.ts'

interface Definition {
  readonly group: string
  readonly names: { readonly kind: string }
  readonly versions: readonly { readonly name: string; readonly served: boolean }[]
}

const WITHIN_MS = 120_000
const POLL_MS = 50

/**
 * Applies objects with their status, definitions and namespaces first, and settles when the
 * custom kinds among them are discovered, served and published in OpenAPI.
 */
export async function install(access: Access, manifests: readonly Manifest[]): Promise<void> {
  const isFirst = ({ kind }: Manifest) => kind === DEFINITION || kind === 'Namespace'
  const applyAll = (objects: readonly Manifest[], kinds: Kinds) =>
    Promise.all(objects.map((object) => apply(access, kinds, object)))
  await applyAll(manifests.filter(isFirst), await discoverKinds(access))
  const custom = definedBy(manifests)
  const others = manifests.filter((object) => !isFirst(object))
  const kinds = await untilKnown(access, [...custom, ...others])
  await Promise.all([applyAll(others, kinds), untilPublished(access, custom)])
}

/** Settles when these custom kinds are discovered, and published in OpenAPI. */
export async function untilServed(access: Access, types: readonly TypeMeta[]): Promise<void> {
  await Promise.all([untilKnown(access, types), untilPublished(access, types)])
}

/** The custom kinds that the definitions among these objects add. */
export const definedBy = (manifests: readonly Manifest[]): readonly TypeMeta[] =>
  manifests.filter(({ kind }) => kind === DEFINITION).flatMap(servedBy)

const DEFINITION = 'CustomResourceDefinition'

export type TypeMeta = Pick<Manifest, 'apiVersion' | 'kind'>

function servedBy({ spec }: Manifest): readonly TypeMeta[] {
  const { group, names, versions } = spec as Definition
  const served = versions.filter((version) => version.served)
  return served.map(({ name }) => ({ apiVersion: `${group}/${name}`, kind: names.kind }))
}

async function apply(access: Access, kinds: Kinds, object: Manifest): Promise<void> {
  const kind = kinds.get(typeOf(object))
  if (!kind) throw new Error(`${typeOf(object)} is not served here`)
  const { name, namespace } = object.metadata
  const path = kind.pathOf(name, namespace)
  await patch(access, path, object)
  if (object.status && kind.hasStatus) await patch(access, `${path}/status`, object)
}

// A kind is discovered a moment before each handler serves it: until then the answer is 404.
async function patch({ url, ca, token }: Access, path: string, body: object): Promise<void> {
  const target = `${url}${path}?fieldManager=admin&force=true`
  const contentType = 'application/apply-patch+yaml'
  await until(`applying ${path}`, async () => {
    const reply = await send(target, { method: 'PATCH', ca, token, contentType, body })
    if (reply.status === 404) return undefined
    return accepted(`applying ${path}`, reply)
  })
}

function untilKnown(access: Access, wanted: readonly TypeMeta[]): Promise<Kinds> {
  return until('discovering the kinds', async () => {
    const kinds = await discoverKinds(access)
    return wanted.every((type) => kinds.has(typeOf(type))) ? kinds : undefined
  })
}

async function untilPublished({ url, ca, token }: Access, wanted: readonly TypeMeta[]) {
  await until('publishing the schemas', async () => {
    const reply = accepted('reading /openapi/v3', await send(`${url}/openapi/v3`, { ca, token }))
    const { paths } = JSON.parse(reply.text) as { paths: Record<string, unknown> }
    return wanted.every(({ apiVersion }) => `apis/${apiVersion}` in paths) || undefined
  })
}

const typeOf = ({ apiVersion, kind }: TypeMeta) => `${apiVersion} ${kind}`

function accepted(step: string, reply: Reply): Reply {
  if (reply.status >= 300) throw new Error(`${step}: ${reply.status} ${reply.text}`)
  return reply
}

async function until<Result>(
  step: string,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const result = await attempt()
    if (result !== undefined) return result
    if (performance.now() > deadline) throw new Error(`${step}: not done in ${WITHIN_MS} ms`)
    await sleep(POLL_MS)
  }
}
