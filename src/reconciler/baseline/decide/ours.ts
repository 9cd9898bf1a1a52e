import { FIELD_MANAGER, MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'

/** Whether the object bears our label. */
export const isOurs = (live: KubeObject | undefined) =>
  live?.metadata.labels?.[MANAGED_BY] === FIELD_MANAGER
