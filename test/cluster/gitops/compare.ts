import { isDeepStrictEqual } from 'node:util'
import { annotationOf, isMap, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { ownedFields } from '../verdicts/writes/manifest.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Whether Argo CD finds a difference by itself: in what the manifest states, or because something is still there that was applied
 * last and is not stated any more. Lists count as a whole, as they do in a merge patch.
 */
export function threeWayDiffers(manifest: KubeObject, live: KubeObject | undefined): boolean {
  const applied = annotationOf(live, LAST_APPLIED)
  return !isStored(manifest, live) || isLeftOver(JSON.parse(applied ?? '{}'), manifest, live)
}

const isStored = (stated: unknown, stored: unknown): boolean =>
  isMap(stated)
    ? Object.entries(stated).every(([key, value]) => isStored(value, memberOf(stored, key)))
    : isDeepStrictEqual(stated, stored)

const isLeftOver = (applied: unknown, stated: unknown, stored: unknown): boolean =>
  isMap(applied)
    ? Object.entries(applied).some(([key, value]) =>
        isLeftOver(value, memberOf(stated, key), memberOf(stored, key)),
      )
    : stated === undefined && stored !== undefined

const memberOf = (map: unknown, key: string): unknown => (isMap(map) ? map[key] : undefined)

/** What is compared of an object and of what a dry run makes of it: not what the API server itself says of them. */
export function comparable({ status: _, metadata, ...content }: Loose): unknown {
  const { labels = {}, annotations = {} } = metadata
  return { content, labels, annotations: { ...annotations, [LAST_APPLIED]: undefined } }
}

/**
 * The manifest as Argo CD syncs it with RespectIgnoreDifferences and our manager under ignoreDifferences: what we own and it states
 * otherwise has the stored value.
 */
export function respectfulOf(manifest: KubeObject, live: KubeObject | undefined): KubeObject {
  return live ? (respectful(manifest, live, ownedFields(live)) as KubeObject) : manifest
}

const respectful = (stated: unknown, stored: unknown, owned: Loose): unknown => {
  if (!isMap(stated) || owned === undefined) return stated
  const entries = Object.entries(stated).map(([key, value]) => {
    const fields = owned[`f:${key}`]
    const member = memberOf(stored, key)
    const isLeaf = fields !== undefined && Object.keys(fields).length === 0
    return [key, isLeaf && member !== undefined ? member : respectful(value, member, fields)]
  })
  return Object.fromEntries(entries)
}
