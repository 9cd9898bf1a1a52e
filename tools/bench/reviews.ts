import { isDeepStrictEqual } from 'node:util'
import jsonPatch, { type Operation } from 'fast-json-patch'

import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import type { Bench } from './bench.ts'
import { type Edit, HCO_EDIT, merged, SMALL_MACHINE_CONFIG_EDIT } from './edits.ts'

/** A request to the webhook and what its answer must be. */
export interface Review {
  readonly what: string
  /** How large each of its two objects is at least, bytes. */
  readonly objectBytes: number
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
/** The size of an object for which the goals are stated. */
export const GOAL_BYTES = 5_000

/** A clean update, a correction and a denial, made from the objects that are stored, each object of this size. */
export async function reviewsOf(
  { read }: Pick<Bench, 'read'>,
  objectBytes = GOAL_BYTES,
): Promise<readonly Review[]> {
  const stored = ({ at, name }: Edit) => read(pathOf(at, name))
  return reviewsFor(await stored(HCO_EDIT), await stored(SMALL_MACHINE_CONFIG_EDIT), objectBytes)
}

/** The same for these two objects. */
export function reviewsFor(
  storedHco: KubeObject,
  storedMachineConfig: KubeObject,
  objectBytes: number,
): readonly Review[] {
  const hco = enlarged(storedHco, objectBytes, withDevices)
  const machineConfig = enlarged(storedMachineConfig, objectBytes, withFiles)
  const unmanaged = { spec: { virtualization: { evictionStrategy: 'LiveMigrateIfPossible' } } }
  const review = (
    what: string,
    edit: Edit,
    [before, after]: readonly [KubeObject, KubeObject],
    isExpected: (response: ReviewResponse) => boolean,
  ): Review => ({
    what,
    objectBytes,
    bodyFor: (user) => bodyOf(edit, user, before, after),
    isExpected: (response) => response.uid === UID && isExpected(response),
  })
  const edited = merged(hco, HCO_EDIT.patch)
  const rebooting = merged(machineConfig, SMALL_MACHINE_CONFIG_EDIT.patch)
  return [
    review(
      'clean update of a HyperConverged',
      HCO_EDIT,
      [hco, merged(hco, unmanaged)],
      ({ allowed, patch }) => allowed && patch === undefined,
    ),
    review(
      'correction of a HyperConverged',
      HCO_EDIT,
      [hco, edited],
      ({ allowed, patch }) => allowed && isDeepStrictEqual(corrected(edited, patch), hco),
    ),
    review(
      'denial of a MachineConfig edit',
      SMALL_MACHINE_CONFIG_EDIT,
      [machineConfig, rebooting],
      ({ allowed }) => !allowed,
    ),
  ]
}

/** What the API server makes of an object and the patch of an answer. */
function corrected(object: KubeObject, patch = ''): unknown {
  if (patch === '') return object
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]
  return jsonPatch.applyPatch(structuredClone(object), operations).newDocument
}

/** Adds parts to an object, none of which the product manages, until its JSON has at least so many bytes. */
function enlarged(
  object: KubeObject,
  bytes: number,
  withParts: (parts: readonly number[]) => object,
): KubeObject {
  const parts: number[] = []
  const large = () => merged(object, withParts(parts))
  while (JSON.stringify(large()).length < bytes) parts.push(parts.length)
  return large()
}

/** The HyperConverged of somebody who passes many devices through. */
const withDevices = (devices: readonly number[]) => {
  const pciHostDevices = devices.map((device) => ({
    pciDeviceSelector: `10DE:${device.toString(16).toUpperCase().padStart(4, '0')}`,
    resourceName: `nvidia.com/gpu-${device.toString(16).padStart(4, '0')}`,
    externalResourceProvider: true,
  }))
  return { spec: { virtualization: { permittedHostDevices: { pciHostDevices } } } }
}

/** The MachineConfig of somebody who has added files of their own to it. */
const withFiles = (numbers: readonly number[]) => {
  const files = numbers.map((file) => ({
    path: `/etc/sysctl.d/${file}-site.conf`,
    mode: 420,
    overwrite: true,
    contents: { source: `data:,${encodeURIComponent(`vm.swappiness = ${file}\n`)}` },
  }))
  return { spec: { config: { ignition: { version: '3.5.0' }, storage: { files } } } }
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
