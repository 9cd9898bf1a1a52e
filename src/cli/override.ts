import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

import { STATE_CONFIG_MAP } from '../shared/catalog/names.ts'
import { createStandings } from '../shared/catalog/standing.ts'
import { parseState } from '../shared/catalog/state.ts'
import { type Client, connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'
import { read } from '../shared/cluster/resource.ts'
import { createSchemas } from '../shared/cluster/schemas.ts'
import { PATCH } from '../shared/engine/annotations.ts'
import { drift } from '../shared/engine/merge.ts'
import {
  annotationOf,
  groupOf,
  isKubeObject,
  type KubeObject,
  titleOf,
} from '../shared/engine/object.ts'
import { applyPatch } from '../shared/engine/patch.ts'
import { sha256 } from '../shared/ops/digest.ts'
import { isContent } from '../webhook/judge.ts'
import { createKnowledge, type Knowledge, queriesOf } from '../webhook/knowledge.ts'
import { annotateCommand, patchFor } from '../webhook/way-out.ts'
import { loadOwnCatalog } from './assets.ts'

export interface OverrideOptions {
  readonly kubeconfig?: string
  readonly namespace: string
}

/** The `override` command: prints the kubectl command that makes the edits of a manifest legitimate. */
export async function override(file: string, options: OverrideOptions): Promise<void> {
  const manifest = readManifest(file)
  const client = await connect(loadKubeconfig(options.kubeconfig))
  try {
    const knowledge = await learn(client, options.namespace)
    const live = await readLive(client, manifest, knowledge)
    process.stdout.write(`${overrideFor(manifest, live, knowledge)}\n`)
  } finally {
    await client.close()
  }
}

function readManifest(file: string): KubeObject {
  let value: unknown
  try {
    value = parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new Error(`cannot read ${file}: ${(error as Error).message.split('\n')[0]}`, {
      cause: error,
    })
  }
  if (!isKubeObject(value))
    throw new Error(`${file} holds no Kubernetes object with apiVersion, kind and metadata.name`)
  return value
}

async function learn(client: Client, namespace: string): Promise<Knowledge> {
  const catalog = loadOwnCatalog()
  const at = { apiVersion: 'v1', resource: 'configmaps', namespace }
  const state = parseState((await read(client, at, STATE_CONFIG_MAP))?.data)
  if (!state) {
    throw new Error(
      `no reconciler has published its state in namespace ${namespace}: is it running there? (--namespace)`,
    )
  }
  return createKnowledge(
    catalog,
    state,
    await createSchemas(client)(queriesOf(catalog, state)),
    createStandings(catalog, sha256),
  )
}

const findManaged = ({ apiVersion, kind, metadata }: KubeObject, { find }: Knowledge) =>
  find(groupOf(apiVersion), kind, metadata.namespace, metadata.name)

async function readLive(client: Client, manifest: KubeObject, knowledge: Knowledge) {
  const { apiVersion, metadata } = manifest
  const resource = findManaged(manifest, knowledge)?.asset.object.resource
  const namespace = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
  if (resource === undefined) return undefined
  return read(client, { apiVersion, resource, ...namespace }, metadata.name)
}

/** The command for a manifest, on top of the patch that the live object carries; or why it needs none. */
function overrideFor(
  manifest: KubeObject,
  live: KubeObject | undefined,
  knowledge: Knowledge,
): string {
  const { metadata } = manifest
  const managed = findManaged(manifest, knowledge)
  if (managed?.standing.kind !== 'active' || !managed.tree)
    return `${titleOf(manifest)} is not managed here: nothing to override`
  if (managed.isSensitive)
    throw new Error(
      `${titleOf(manifest)}: this kind takes no ${PATCH}; use ignore-fields or mode: unmanaged`,
    )
  const { baseline } = managed.standing
  const existing = annotationOf(live, PATCH)
  const annotations: Record<string, string> = existing === undefined ? {} : { [PATCH]: existing }
  const object = { ...manifest, metadata: { ...metadata, annotations } }
  const patched = existing === undefined ? undefined : applyPatch(baseline, existing)
  const desired = patched?.ok ? patched.value : baseline
  // A manifest need not repeat what is managed: what it leaves out is no edit.
  const drifts = drift(managed.tree, object, desired).filter(
    (found) => found.kind === 'different' && isContent(found),
  )
  if (drifts.length === 0)
    return `${titleOf(manifest)} agrees with what is kept: nothing to override`
  const patch = patchFor({ object, baseline, tree: managed.tree, drifts })
  if (patch === undefined)
    throw new Error(
      `${titleOf(manifest)}: no patch of the baseline gives this manifest; use ignore-fields`,
    )
  return annotateCommand(manifest, PATCH, patch)
}
