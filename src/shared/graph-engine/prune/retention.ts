import type { InventoryItem } from '../inventory.ts'
import { type DeletionPolicy, kindKeyOf } from '../node.ts'

/** Kinds whose deletion takes with it what cannot be applied again, and what is lost with each. */
const PRECIOUS: Readonly<Record<string, string>> = {
  '/PersistentVolumeClaim': 'its data would be lost',
  '/PersistentVolume': 'its data would be lost',
  '/Namespace': 'everything in it would be lost',
  'apiextensions.k8s.io/CustomResourceDefinition': 'all objects of its kind would be lost',
}

export interface Retention {
  readonly reason: 'Orphaned' | 'Retained'
  readonly message: string
}

/** Why an object that should go is left instead; undefined where it may be deleted. The node's word goes before its owner's. */
export function retentionOf(
  item: InventoryItem,
  ownersPolicy: DeletionPolicy = 'Delete',
): Retention | undefined {
  // What was adopted was there before us.
  const fallback = item.state === 'Adopted' ? 'Orphan' : ownersPolicy
  if ((item.deletionPolicy ?? fallback) === 'Orphan')
    return { reason: 'Orphaned', message: 'is left as it is: its deletionPolicy is Orphan' }
  const key = kindKeyOf(item)
  const loss = Object.hasOwn(PRECIOUS, key) ? PRECIOUS[key] : undefined
  if (loss === undefined || item.deletionPolicy === 'Delete') return undefined
  const message = `is left as it is, since ${loss}: it goes only where its node says deletionPolicy: Delete`
  return { reason: 'Retained', message }
}
