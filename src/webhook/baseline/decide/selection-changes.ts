import { namespaceOf } from '../../../shared/baseline/catalog/catalog.ts'
import { isSelected } from '../../../shared/baseline/settings/activation.ts'
import { isExcluded } from '../../../shared/baseline/settings/exclusions.ts'
import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'

const NAMED = 5

/**
 * Sentences about the assets that other settings take out of management, or put back into it: a word too many or too
 * few in a list changes more than its writer sees. Nothing for the switches of all, which say so themselves.
 */
export function selectionChanges(
  before: Settings,
  after: Settings,
  snapshot: Snapshot,
): readonly string[] {
  if (![before, after].every(keepsAny)) return []
  const changed = snapshot.all.filter(
    (managed) => isSelectedBy(before, managed, snapshot) !== isSelectedBy(after, managed, snapshot),
  )
  const lost = changed.filter(({ status }) => status.kind === 'active')
  const gained = changed.filter(
    (managed) =>
      managed.status.kind === 'inactive' &&
      ['Excluded', 'NotSelected'].includes(managed.status.reason) &&
      snapshot.statusWith(managed, snapshot.facts.hco, after).kind === 'active',
  )
  return [
    ...(lost.length > 0 ? [`${named(lost)} not kept any more from now on`] : []),
    ...(gained.length > 0 ? [`${named(gained)} kept again from now on`] : []),
  ]
}

/** Whether anything is kept with these settings, rather than only looked at, or nothing at all. */
export const keepsAny = ({ activation: { kind } }: Settings) => kind === 'all' || kind === 'only'

/** Whether these settings leave an asset under management. */
export const isSelectedBy = (
  { activation, exclusions }: Settings,
  { asset }: ManagedObject,
  { facts }: Snapshot,
) =>
  isSelected(activation, asset) &&
  !isExcluded(exclusions, asset, namespaceOf(asset, facts.hco.namespace))

function named(objects: readonly ManagedObject[]): string {
  const names = objects.slice(0, NAMED).map(({ asset }) => asset.name)
  const more = objects.length > NAMED ? ` and ${objects.length - NAMED} more` : ''
  return `${names.join(', ')}${more} ${objects.length > 1 ? 'are' : 'is'}`
}
