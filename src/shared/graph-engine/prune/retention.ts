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

/**
 * Why an object that should go is left instead; undefined where it may be deleted. The node's word goes before its owner's,
 * but for an owner that goes itself and is to leave everything: whoever keeps all of it has to be able to rely on that.
 */
export function retentionOf(
  item: InventoryItem,
  ownersPolicy: DeletionPolicy = 'Delete',
  isOwnerGoing = false,
): Retention | undefined {
  const isAllLeft = isOwnerGoing && ownersPolicy === 'Orphan'
  if (isAllLeft || (item.deletionPolicy ?? ownersPolicy) === 'Orphan')
    return { reason: 'Orphaned', message: 'is left as it is: its deletionPolicy is Orphan' }
  const key = kindKeyOf(item)
  const loss = Object.hasOwn(PRECIOUS, key) ? PRECIOUS[key] : undefined
  if (loss === undefined || item.deletionPolicy === 'Delete') return undefined
  const message = `is left as it is, since ${loss}: it goes only where its node says deletionPolicy: Delete`
  return { reason: 'Retained', message }
}
