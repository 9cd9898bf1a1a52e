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

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly { readonly version: string; readonly resources?: Resource[] }[]
  }[]
}

interface Resource {
  readonly resource: string
  readonly scope: 'Cluster' | 'Namespaced'
  readonly responseKind: { readonly kind: string }
  readonly subresources?: readonly { readonly subresource: string }[]
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Asks an API server for all the kinds that it serves now. */
export async function discoverKinds(access: Access): Promise<Kinds> {
  const groups = await Promise.all(['/api', '/apis'].map((path) => discover(access, path)))
  return new Map(groups.flat())
}

async function discover({ url, ca, token }: Access, root: string): Promise<[string, Kind][]> {
  const { status, text } = await send(url + root, { ca, token, accept: AGGREGATED })
  if (status !== 200) throw new Error(`GET ${root}: ${status} ${text}`)
  const { items } = JSON.parse(text) as Discovery
  return items.flatMap(({ metadata: { name }, versions }) =>
    versions.flatMap(({ version, resources = [] }) => {
      const apiVersion = name ? `${name}/${version}` : version
      return resources.map((resource): [string, Kind] => [
        `${apiVersion} ${resource.responseKind.kind}`,
        kindOf(`${root}/${apiVersion}`, resource),
      ])
    }),
  )
}

function kindOf(base: string, { resource, scope, subresources = [] }: Resource): Kind {
  return {
    hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
    pathOf: (name, namespace = 'default') =>
      scope === 'Cluster'
        ? `${base}/${resource}/${name}`
        : `${base}/namespaces/${namespace}/${resource}/${name}`,
  }
}
