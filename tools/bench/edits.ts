import { isDeepStrictEqual } from 'node:util'

import type { Client } from '../../src/shared/cluster/client.ts'
import { pathOf, type Resource } from '../../src/shared/cluster/resource.ts'
import { isMap, type KubeObject } from '../../src/shared/engine/json/object.ts'

/** An edit of a managed field of one object. */
export interface Edit {
  readonly kind: string
  readonly at: Resource
  readonly name: string
  readonly patch: object
}

export const HCO_EDIT: Edit = {
  kind: 'HyperConverged',
  at: { apiVersion: 'hco.kubevirt.io/v1', resource: 'hyperconvergeds', namespace: 'openshift-cnv' },
  name: 'kubevirt-hyperconverged',
  patch: { spec: { virtualization: { liveMigrationConfig: { allowPostCopy: true } } } },
}

const MACHINE_CONFIG_EDIT: Edit = {
  kind: 'MachineConfig',
  at: { apiVersion: 'machineconfiguration.openshift.io/v1', resource: 'machineconfigs' },
  name: '90-worker-swap-online',
  patch: { spec: { config: { ignition: { version: '3.2.0' } } } },
}

/** Of a MachineConfig that has no payload: as small as they come. */
export const SMALL_MACHINE_CONFIG_EDIT: Edit = {
  ...MACHINE_CONFIG_EDIT,
  name: '50-virt-pci-passthrough',
  patch: { spec: { kernelArguments: ['intel_iommu=off', 'iommu=pt'] } },
}

export const HEALTH_CHECK_EDIT: Edit = {
  kind: 'NodeHealthCheck',
  at: { apiVersion: 'remediation.medik8s.io/v1alpha1', resource: 'nodehealthchecks' },
  name: 'virt-node-health-check',
  patch: { spec: { minHealthy: '7%' } },
}

/** One for each way in which assets differ: the source of facts, a plain one, one that reboots nodes. */
export const EDITS = [HCO_EDIT, HEALTH_CHECK_EDIT, MACHINE_CONFIG_EDIT]

/** Whether an object has the wrong value: the edit would change nothing more. */
export const isEdited = ({ patch }: Edit, object: KubeObject): boolean =>
  isDeepStrictEqual(merged(object, patch), object)

/** A value after a merge patch that removes nothing. */
export function merged<Value>(value: Value, patch: unknown): Value {
  if (!isMap(value) || !isMap(patch)) return patch as Value
  const members = Object.entries(patch).map(([key, member]) => [key, merged(value[key], member)])
  return { ...value, ...Object.fromEntries(members) }
}

/** Writes a merge patch to the object of an edit, as somebody of the group that administrates the platform. */
export async function writeAs(
  client: Client,
  user: string,
  { at, name }: Edit,
  patch: object,
  query: { readonly dryRun?: 'All' } = {},
): Promise<KubeObject> {
  const { body } = await client.send(pathOf(at, name), {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    query: { fieldManager: 'kubectl-patch', ...query },
    headers: { 'impersonate-user': user, 'impersonate-group': 'platform-admins' },
    body: patch,
  })
  return body as KubeObject
}
