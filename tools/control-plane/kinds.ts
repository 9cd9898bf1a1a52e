import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { ControlPlane } from './control-plane.ts'
import { send } from './request.ts'

/** What it takes to speak to a cluster as its administrator. */
export type Access = Pick<ControlPlane, 'url' | 'ca' | 'token'>

/** Where the objects of one kind are, and whether their status is apart. */
export interface Kind {
  readonly hasStatus: boolean
  pathOf(name: string, namespace?: string): string
}

/** The kinds that an API server serves, by `apiVersion kind`. */
export type Kinds = ReadonlyMap<string, Kind>

interface Group {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly { readonly version: string; readonly resources?: Resource[] }[]
}

interface Resource {
  readonly resource: string
  readonly scope: 'Cluster' | 'Namespaced'
  readonly responseKind: { readonly kind: string }
  readonly subresources?: readonly { readonly subresource: string }[]
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Asks an API server for all the kinds that it serves now; the product's own discovery knows no scopes and subresources. */
export async function discoverKinds({ url, ca, token }: Access): Promise<Kinds> {
  const answers = ['/api', '/apis'].map(async (root) => {
    const { status, text } = await send(url + root, { ca, token, accept: AGGREGATED })
    if (status !== 200) throw new Error(`GET ${root}: ${status} ${text}`)
    return (JSON.parse(text).items as readonly Group[]).flatMap(kindsOf)
  })
  return new Map((await Promise.all(answers)).flat())
}

const kindsOf = ({ metadata: { name }, versions }: Group): readonly [string, Kind][] =>
  versions.flatMap(({ version, resources = [] }) => {
    const apiVersion = name ? `${name}/${version}` : version
    return resources.map((one): [string, Kind] => [
      `${apiVersion} ${one.responseKind.kind}`,
      kindOf(apiVersion, one),
    ])
  })

const kindOf = (apiVersion: string, { resource, scope, subresources = [] }: Resource): Kind => ({
  hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
  pathOf: (name, namespace = 'default') =>
    pathOf({ apiVersion, resource, ...(scope === 'Namespaced' && { namespace }) }, name),
})
