import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client, type RequestInput } from '../../../src/shared/cluster/client.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import type { AutopilotCluster, Loose } from '../harness/autopilot-fixture.ts'
import { comparable, threeWayDiffers } from './compare.ts'
import { takeoverOf } from './flux-managers.ts'

/** What a tool shows of an object that Git has. */
export type Compared = 'Synced' | 'OutOfSync' | { readonly error: string }

/** A GitOps tool, as far as its sources say how it compares an object with Git, and what it does about a difference. */
export interface Tool {
  readonly name: string
  readonly compare: (path: string, manifest: KubeObject) => Promise<Compared>
  /** Gives what went wrong; undefined where nothing did. */
  readonly sync: (path: string, manifest: KubeObject) => Promise<string | undefined>
}

const ARGO = 'argocd-controller'
const FLUX = 'kustomize-controller'

/** The tools on a cluster: each writes as a user of its own, with the rights of an administrator. */
export function createTools(cluster: AutopilotCluster, client: Client): readonly Tool[] {
  const argo = (name: string, flags: readonly string[]) => ({
    name,
    async sync(_path: string, manifest: KubeObject) {
      const args = ['apply', `--field-manager=${ARGO}`, ...flags, '-f-']
      const { code, stderr } = await cluster.person(name)(args, { input: JSON.stringify(manifest) })
      return code === 0 ? undefined : stderr
    },
  })
  const serverSide = ['--server-side', '--force-conflicts']
  const compare = byItself(cluster)
  return [
    { ...argo('argo-cd', []), compare },
    { ...argo('argo-cd-server-side-apply', serverSide), compare },
    {
      ...argo('argo-cd-server-side-diff', serverSide),
      compare: byDryRun(cluster, writer(client, 'argo-cd-server-side-diff', ARGO)),
    },
    createFlux(cluster, writer(client, 'flux', FLUX)),
  ]
}

function createFlux(cluster: AutopilotCluster, { apply, patch }: Writer): Tool {
  const compare = byDryRun(cluster, { apply })
  return {
    name: 'flux',
    compare,
    async sync(path, manifest) {
      const found = await compare(path, manifest)
      if (typeof found === 'object') return found.error
      const live = await cluster.read(path)
      const takeover = live && takeoverOf(live, manifest, FLUX)
      if (takeover) await patch(path, takeover)
      // What has not drifted is not applied.
      return found === 'Synced' && !takeover ? undefined : failureOf(apply(path, manifest))
    },
  }
}

interface Writer {
  readonly apply: (path: string, body: KubeObject, dryRun?: 'All') => Promise<Loose>
  readonly patch: (path: string, body: readonly object[]) => Promise<Loose>
}

/** Sends the requests of one tool. */
function writer(client: Client, user: string, fieldManager: string): Writer {
  const headers = { 'impersonate-user': user, 'impersonate-group': PLATFORM_ADMINS }
  const send = async (path: string, input: RequestInput) =>
    (await client.send(path, { method: 'PATCH', ...input, headers })).body
  return {
    apply: (path, body, dryRun) => {
      const query = { fieldManager, force: true, dryRun }
      return send(path, { contentType: 'application/apply-patch+yaml', body, query })
    },
    patch: (path, body) =>
      send(path, { contentType: 'application/json-patch+json', body, query: { fieldManager } }),
  }
}

const byItself =
  ({ read }: AutopilotCluster): Tool['compare'] =>
  async (path, manifest) =>
    threeWayDiffers(manifest, await read(path)) ? 'OutOfSync' : 'Synced'

const byDryRun =
  ({ read }: AutopilotCluster, { apply }: Pick<Writer, 'apply'>): Tool['compare'] =>
  async (path, manifest) => {
    const live = await read(path)
    try {
      const answer = await apply(path, manifest, 'All')
      return live && isDeepStrictEqual(comparable(live), comparable(answer))
        ? 'Synced'
        : 'OutOfSync'
    } catch (error) {
      if (error instanceof ApiError) return { error: error.message }
      throw error
    }
  }

async function failureOf(writing: Promise<unknown>): Promise<string | undefined> {
  try {
    await writing
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}
