import { isEqual } from '../../shared/engine/json/equal.ts'
import { isMap, type KubeObject } from '../../shared/engine/json/object.ts'

/** Whether a webhook configuration asks about what is wanted, in the way that is wanted, and about nothing else. */
export const hasWebhooksOf = (live: KubeObject, wanted: KubeObject): boolean =>
  holdsAll(live.webhooks, wanted.webhooks)

/** Whether a webhook configuration has the annotations that are wanted, whatever others it has. */
export const hasAnnotationsOf = (live: KubeObject, wanted: KubeObject): boolean =>
  holdsAll(live.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})

/** Whether a webhook configuration is what is wanted. Somebody else’s annotations and owners beside ours are theirs. */
export const isAsWanted = (live: KubeObject, wanted: KubeObject): boolean =>
  hasWebhooksOf(live, wanted) && hasAnnotationsOf(live, wanted) && hasOwnersOf(live, wanted)

const hasOwnersOf = (live: KubeObject, wanted: KubeObject) =>
  ownersOf(wanted).every((owner) => ownersOf(live).some((one) => holdsAll(one, owner)))
const ownersOf = ({ metadata }: KubeObject) =>
  (metadata.ownerReferences ?? []) as readonly unknown[]

// Whether live holds everything that is wanted; what the server added by default does not count.
function holdsAll(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => holdsAll(live[index], item))
    )
  }
  if (!isMap(wanted)) return isEqual(live, wanted)
  return isMap(live) && Object.entries(wanted).every(([key, value]) => holdsAll(live[key], value))
}
