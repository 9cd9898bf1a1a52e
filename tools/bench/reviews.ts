import { isDeepStrictEqual } from 'node:util'
import jsonPatch, { type Operation } from 'fast-json-patch'

import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import type { Bench } from './bench.ts'
import { type Edit, HCO_EDIT, merged, SMALL_MACHINE_CONFIG_EDIT } from './edits.ts'

/** A request to the webhook and what its answer must be. */
export interface Review {
  readonly what: string
  /** The body for one user: whoever insists may be answered otherwise. */
  readonly bodyFor: (user: string) => Buffer
  readonly isExpected: (response: ReviewResponse) => boolean
}

export interface ReviewResponse {
  readonly uid: string
  readonly allowed: boolean
  readonly patch?: string
}

/** The response in the text of an answer. */
export const responseIn = (text: string): ReviewResponse => JSON.parse(text).response

/** The uid of every request. */
export const UID = '705ab4f5-6393-11e8-b7cc-42010a800002'
/** How large each of the two objects of a review is at least. */
export const OBJECT_BYTES = 5_000

/** A clean update, a correction and a denial, made from the objects that are stored. */
export async function reviewsOf({ read }: Pick<Bench, 'read'>): Promise<readonly Review[]> {
  const stored = ({ at, name }: Edit) => read(pathOf(at, name))
  return reviewsFor(await stored(HCO_EDIT), await stored(SMALL_MACHINE_CONFIG_EDIT))
}

/** The same for these two objects. */
export function reviewsFor(hco: KubeObject, machineConfig: KubeObject): readonly Review[] {
  const review = (what: string, edit: Edit, stored: KubeObject, isRight: IsRight): Review => {
    const before = enlarged(stored)
    const after = merged(before, edit.patch)
    return {
      what,
      bodyFor: (user) => bodyOf(edit, user, before, after),
      isExpected: (response) => response.uid === UID && isRight(response, before, after),
    }
  }
  const virtualization = { evictionStrategy: 'LiveMigrateIfPossible' }
  const unmanaged = { ...HCO_EDIT, patch: { spec: { virtualization } } }
  return [
    review('clean update of a HyperConverged', unmanaged, hco, isAllowedAsItIs),
    review('correction of a HyperConverged', HCO_EDIT, hco, isPutBack),
    review('denial of a MachineConfig edit', SMALL_MACHINE_CONFIG_EDIT, machineConfig, isDenied),
  ]
}

type IsRight = (response: ReviewResponse, before: KubeObject, after: KubeObject) => boolean

const isPutBack: IsRight = ({ allowed, patch }, before, after) =>
  allowed && isDeepStrictEqual(corrected(after, patch), before)

const isDenied: IsRight = ({ allowed }) => !allowed

/** Whether an answer neither denies nor corrects anything. */
export const isAllowedAsItIs = ({ uid, allowed, patch }: ReviewResponse): boolean =>
  uid === UID && allowed && patch === undefined

/** What the API server makes of an object and the patch of an answer. */
function corrected(object: KubeObject, patch = ''): unknown {
  if (patch === '') return object
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]
  return jsonPatch.applyPatch(structuredClone(object), operations).newDocument
}

/** Adds labels of somebody else to an object until its JSON has so many bytes. */
function enlarged(object: KubeObject): KubeObject {
  const labels: Record<string, string> = {}
  const large = () => merged(object, { metadata: { labels } })
  while (JSON.stringify(large()).length < OBJECT_BYTES)
    labels[`inventory.example.com/part-${Object.keys(labels).length}`] = 'counted'
  return large()
}

/** An AdmissionReview as the API server sends it for a patch by kubectl. */
function bodyOf({ at, name }: Edit, user: string, oldObject: KubeObject, object: KubeObject) {
  const [group = '', version = ''] = at.apiVersion.split('/')
  const kind = { group, version, kind: object.kind }
  const resource = { group, version, resource: at.resource }
  const groups = ['platform-admins', 'system:authenticated']
  const options = { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1' }
  const request = {
    uid: UID,
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name,
    ...(at.namespace !== undefined && { namespace: at.namespace }),
    operation: 'UPDATE',
    userInfo: { username: user, uid: '014fbff9a07c', groups },
    object,
    oldObject,
    dryRun: false,
    options: { ...options, fieldManager: 'kubectl-patch', fieldValidation: 'Strict' },
  }
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }
  return Buffer.from(JSON.stringify(review))
}
