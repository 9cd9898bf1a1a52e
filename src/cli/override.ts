import { IGNORE_FIELDS, OVERRIDES, PATCH } from '../shared/baseline/annotations.ts'
import { annotateCommand, unmanageCommand } from '../shared/baseline/kubectl.ts'
import { plan } from '../shared/baseline/planner.ts'
import { annotationOf, groupOf, type KubeObject, titleOf } from '../shared/engine/json/object.ts'
import { drift } from '../shared/engine/merge/merge.ts'
import { sentenceOf } from '../shared/engine/problem.ts'
import { isContent } from '../webhook/baseline/decide/judge-content.ts'
import { refusalOf } from '../webhook/baseline/decide/refusal.ts'
import { type Edit, ignoreFor, patchFor } from '../webhook/baseline/decide/remedy.ts'
import type { ManagedObject, Snapshot } from '../webhook/baseline/snapshot.ts'
import { withKnownCluster } from './known-cluster.ts'
import { readObjects } from './read-objects.ts'
import type { ClusterOptions } from './with-client.ts'

/** The `override` command: prints the kubectl command that makes the edits of a manifest legitimate. */
export async function override(file: string, options: ClusterOptions): Promise<void> {
  const manifest = readManifest(file)
  const command = await withKnownCluster(options, async ({ snapshot, read }) => {
    const managed = findManaged(manifest, snapshot)
    return overrideFor(manifest, managed && (await read(managed)), managed)
  })
  process.stdout.write(`${command}\n`)
}

function readManifest(file: string): KubeObject {
  const [manifest, ...others] = readObjects(file)
  if (manifest && others.length === 0) return manifest
  throw new Error(
    `${file} holds ${manifest ? `${others.length + 1} objects` : 'no Kubernetes object'}: give the one that you have edited`,
  )
}

const findManaged = ({ apiVersion, kind, metadata }: KubeObject, { find }: Snapshot) =>
  find(groupOf(apiVersion), kind, metadata.namespace, metadata.name)

/** The command for a manifest, along with the overrides that there are; or why it needs none. */
function overrideFor(
  manifest: KubeObject,
  live: KubeObject | undefined,
  managed: ManagedObject | undefined,
): string {
  const title = titleOf(manifest)
  if (managed?.status.kind !== 'active' || !managed.tree)
    return `${title} is not managed here: nothing to override`
  const { tree, isSensitive, status, values } = managed
  const { baseline } = status
  const object = withOverridesOf(manifest, live)
  const decision = plan({ baseline, object, tree, isSensitive })
  if (decision.kind === 'skip')
    return `${title} is ${decision.reason.toLowerCase()}: nothing to override`
  if (decision.kind === 'hold') {
    const faults = decision.problems.map(sentenceOf).join('; ')
    throw new Error(`${title}: mend the overrides that it has before you add to them: ${faults}`)
  }
  // A manifest need not repeat what is managed: what it leaves out is no edit.
  const drifts = drift(tree, object, decision.desired).filter(
    (found) => found.kind === 'different' && isContent(found),
  )
  if (drifts.length === 0) return `${title} agrees with what is kept: nothing to override`
  return commandFor({ object, baseline, tree, drifts, isSensitive, values })
}

/** The manifest as it would be stored: an override that it does not state stays as it is. */
function withOverridesOf(manifest: KubeObject, live: KubeObject | undefined): KubeObject {
  const stated = OVERRIDES.flatMap((key) => {
    const text = annotationOf(manifest, key) ?? annotationOf(live, key)
    return text === undefined ? [] : [[key, text] as const]
  })
  return {
    ...manifest,
    metadata: { ...manifest.metadata, annotations: Object.fromEntries(stated) },
  }
}

/** The command that asks for least: a patch, where there can be one, before fields that are given away. */
function commandFor(edit: Edit): string {
  const { object, isSensitive } = edit
  const refusal = refusalOf(edit.values, object, edit.drifts)
  if (refusal !== undefined)
    throw new Error(`${titleOf(object)}: the API server does not take this manifest: ${refusal}`)
  const patch = isSensitive ? undefined : patchFor(edit)
  if (patch !== undefined) return annotateCommand(object, PATCH, patch)
  const ignored = ignoreFor(edit)
  if (ignored !== undefined) return annotateCommand(object, IGNORE_FIELDS, ignored)
  const pointers = edit.drifts.map(({ pointer }) => pointer).join(', ')
  const why = isSensitive ? `this kind takes no ${PATCH}, and` : 'no patch gives this manifest, and'
  throw new Error(
    `${titleOf(object)}: ${why} ${pointers} cannot be owned alone; to own the object: ${unmanageCommand(object)}`,
  )
}
