import { isDeepStrictEqual } from 'node:util'

import type { Client } from '../../src/shared/cluster/client.ts'
import { pathOf, type Resource } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'

/** An edit of a managed field of one object. */
export interface Edit {
  readonly kind: string
  readonly at: Resource
  readonly name: string
  readonly patch: object
  /** Whether an object has the wrong value. */
  readonly isEdited: (object: KubeObject) => boolean
}

export const HCO_EDIT: Edit = {
  kind: 'HyperConverged',
  at: { apiVersion: 'hco.kubevirt.io/v1', resource: 'hyperconvergeds', namespace: 'openshift-cnv' },
  name: 'kubevirt-hyperconverged',
  patch: { spec: { virtualization: { liveMigrationConfig: { allowPostCopy: true } } } },
  isEdited: (object) =>
    valueAt(object, ['spec', 'virtualization', 'liveMigrationConfig', 'allowPostCopy']) === true,
}

export const MACHINE_CONFIG_EDIT: Edit = {
  kind: 'MachineConfig',
  at: { apiVersion: 'machineconfiguration.openshift.io/v1', resource: 'machineconfigs' },
  name: '90-worker-swap-online',
  patch: { spec: { config: { ignition: { version: '3.2.0' } } } },
  isEdited: (object) => valueAt(object, ['spec', 'config', 'ignition', 'version']) === '3.2.0',
}

const EDITED_ARGUMENTS = ['intel_iommu=off', 'iommu=pt']

/** Of a MachineConfig that has no payload: as small as they come. */
export const SMALL_MACHINE_CONFIG_EDIT: Edit = {
  kind: 'MachineConfig',
  at: { apiVersion: 'machineconfiguration.openshift.io/v1', resource: 'machineconfigs' },
  name: '50-virt-pci-passthrough',
  patch: { spec: { kernelArguments: EDITED_ARGUMENTS } },
  isEdited: (object) =>
    isDeepStrictEqual(valueAt(object, ['spec', 'kernelArguments']), EDITED_ARGUMENTS),
}

export const HEALTH_CHECK_EDIT: Edit = {
  kind: 'NodeHealthCheck',
  at: { apiVersion: 'remediation.medik8s.io/v1alpha1', resource: 'nodehealthchecks' },
  name: 'virt-node-health-check',
  patch: { spec: { minHealthy: '7%' } },
  isEdited: (object) => valueAt(object, ['spec', 'minHealthy']) === '7%',
}

/** One for each way in which assets differ: the source of facts, a plain one, one that reboots nodes. */
export const EDITS = [HCO_EDIT, HEALTH_CHECK_EDIT, MACHINE_CONFIG_EDIT]

/** Writes a merge patch to the object of an edit, as somebody of the group that administrates the platform. */
export async function writeAs(
  client: Client,
  user: string,
  { at, name }: Pick<Edit, 'at' | 'name'>,
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

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], object)
