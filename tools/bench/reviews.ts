import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/object.ts'
import type { Bench } from './cluster.ts'
import { type Edit, HCO_EDIT, MACHINE_CONFIG_EDIT } from './edits.ts'

/** A request to the webhook and what its answer must be. */
export interface Review {
  readonly what: string
  /** The body for one user: whoever insists may be answered otherwise. */
  readonly bodyFor: (user: string) => Buffer
  readonly isExpected: (answer: ReviewAnswer) => boolean
}

export interface ReviewAnswer {
  readonly response: { readonly allowed: boolean; readonly patch?: string }
}

const HCO_BYTES = 5_000

/** A clean update, a correction and a denial, made from the objects that are stored. */
export async function reviewsOf({ client }: Pick<Bench, 'client'>): Promise<readonly Review[]> {
  const read = async ({ at, name }: Edit) =>
    (await client.send(pathOf(at, name))).body as KubeObject
  const hco = enlarged(await read(HCO_EDIT))
  const machineConfig = await read(MACHINE_CONFIG_EDIT)
  const clean = merged(hco, {
    spec: { virtualization: { evictionStrategy: 'LiveMigrateIfPossible' } },
  })
  return [
    {
      what: 'clean update of a HyperConverged',
      bodyFor: (user) => bodyOf(HCO_EDIT, user, hco, clean),
      isExpected: ({ response }) => response.allowed && response.patch === undefined,
    },
    {
      what: 'correction of a HyperConverged',
      bodyFor: (user) => bodyOf(HCO_EDIT, user, hco, merged(hco, HCO_EDIT.patch)),
      isExpected: ({ response }) => response.allowed && response.patch !== undefined,
    },
    {
      what: 'denial of a MachineConfig edit',
      bodyFor: (user) =>
        bodyOf(
          MACHINE_CONFIG_EDIT,
          user,
          machineConfig,
          merged(machineConfig, MACHINE_CONFIG_EDIT.patch),
        ),
      isExpected: ({ response }) => !response.allowed,
    },
  ]
}

/** The HyperConverged of somebody who passes many devices through. */
function enlarged(hco: KubeObject): KubeObject {
  const pciHostDevices: object[] = []
  const large = () =>
    merged(hco, { spec: { virtualization: { permittedHostDevices: { pciHostDevices } } } })
  while (JSON.stringify(large()).length < HCO_BYTES) {
    const id = pciHostDevices.length.toString(16).toUpperCase().padStart(4, '0')
    pciHostDevices.push({
      pciDeviceSelector: `10DE:${id}`,
      resourceName: `nvidia.com/gpu-${id.toLowerCase()}`,
      externalResourceProvider: true,
    })
  }
  return large()
}

type Values = Record<string, unknown>

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function merged<Value>(value: Value, patch: unknown): Value {
  if (!isMap(value) || !isMap(patch)) return patch as Value
  const keys = Object.keys(patch)
  return {
    ...value,
    ...Object.fromEntries(keys.map((key) => [key, merged(value[key], patch[key])])),
  }
}

/** An AdmissionReview as the API server sends it for a patch by kubectl. */
function bodyOf({ at, name }: Edit, user: string, oldObject: KubeObject, object: KubeObject) {
  const [group = '', version = ''] = at.apiVersion.split('/')
  const kind = { group, version, kind: object.kind }
  const resource = { group, version, resource: at.resource }
  const request = {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name,
    ...(at.namespace !== undefined && { namespace: at.namespace }),
    operation: 'UPDATE',
    userInfo: {
      username: user,
      uid: '014fbff9a07c',
      groups: ['platform-admins', 'system:authenticated'],
    },
    object,
    oldObject,
    dryRun: false,
    options: {
      kind: 'PatchOptions',
      apiVersion: 'meta.k8s.io/v1',
      fieldManager: 'kubectl-patch',
      fieldValidation: 'Strict',
    },
  }
  return Buffer.from(
    JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }),
  )
}
