import { DISABLED_RESOURCES, FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import {
  annotateCommand,
  type CommandTarget,
  printableJson,
} from '../../../shared/baseline/kubectl.ts'
import type { Exclusion } from '../../../shared/baseline/settings/exclusions.ts'
import { byteLength } from '../../../shared/engine/json/json.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import {
  COMMAND_LIMIT,
  DENIAL_COMMAND_LIMIT,
  denial,
  explanation,
  type Line,
  warnings,
} from '../../server/wording.ts'
import type { DeletionVerdict } from '../decide/judge-deletion.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
import { consequence } from './notes.ts'

/** The warnings about a deletion that is in vain; none where it is not. */
export function deletionWarnings(
  { reason }: DeletionVerdict,
  managed: ManagedObject,
  old: KubeObject,
  snapshot: Snapshot,
): readonly string[] {
  const { asset } = managed
  const how = COMES_BACK[reason]
  if (how === undefined) return []
  // What reboots nodes may have to wait for an approval.
  const when = asset.disruption === 'none' ? 'within seconds' : 'as soon as its change may be made'
  const text = `${titleOf(old)} comes back ${when}, ${how} (${asset.name}: ${asset.description}).`
  return warnings([
    explanation(0, text),
    exclusion('To keep it away', asset, snapshot, COMMAND_LIMIT),
  ])
}

const COMES_BACK: Readonly<Partial<Record<DeletionVerdict['reason'], string>>> = {
  Recreated: 'without its overrides',
  Unmanaged: 'and managed',
  Paused: 'and no longer paused',
}

/** The denial of a deletion. */
export function deletionDenial(
  { asset }: ManagedObject,
  old: KubeObject,
  snapshot: Snapshot,
): string {
  const what = `${titleOf(old)} is kept by ${FIELD_MANAGER} (${asset.name}: ${asset.description})${consequence(asset, snapshot.facts)}.`
  const how = 'To delete it for good, switch the asset off first'
  return denial(what, [exclusion(how, asset, snapshot, DENIAL_COMMAND_LIMIT)])
}

function exclusion(
  what: string,
  { name }: Asset,
  { facts, settings }: Snapshot,
  limit: number,
): Line {
  const hco = {
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged', namespace: facts.hco.namespace },
  }
  const command = excludeCommand(name, hco, settings.exclusions)
  const wordings = [
    `${what}: ${command}`,
    `${what}: add ${name} to the annotation ${DISABLED_RESOURCES} of ${titleOf(hco)}.`,
  ]
  return { rank: 0, wordings: wordings.filter((text) => byteLength(text) <= limit) }
}

/** The command that switches one asset off, along with those already switched off. */
export function excludeCommand(
  assetName: string,
  hco: CommandTarget,
  existing: readonly Exclusion[],
): string {
  const entries = existing.map((entry) => ('asset' in entry ? entry.asset : entry))
  // JSON is YAML too, and fits on the one line that a warning has.
  return annotateCommand(hco, DISABLED_RESOURCES, printableJson([...entries, assetName]))
}
