import { join } from 'node:path'
import { groupOf } from '../../../src/shared/engine/json/object.ts'
import {
  type Definition,
  groupOf as groupOfDefinition,
} from '../../../tools/control-plane/definitions.ts'
import type { Overlay } from './drawing/place.ts'
import { ANY_OBJECT, OVERLAYS } from './overlays.ts'
import type { TypeMeta } from './served.ts'

/** A kind whose objects are merged, and what its schema does not say of them. */
export interface MergeKind extends TypeMeta {
  /** The only name that the kind takes. */
  readonly onlyName?: string
  readonly overlay: Overlay
}

const kindOf = (
  apiVersion: string,
  kind: string,
  only?: Pick<MergeKind, 'onlyName'>,
): MergeKind => ({ apiVersion, kind, ...only, overlay: { ...ANY_OBJECT, ...OVERLAYS[kind] } })

const HOOKS = 'admissionregistration.k8s.io/v1'
const MCO = 'machineconfiguration.openshift.io/v1'

/** The definition that has a field for each way in which the API server merges. */
export const EVERY_SORT = kindOf('test.example.com/v1', 'Nasty')

/** Kinds of the API server itself. */
export const BUILT_IN: readonly MergeKind[] = [
  kindOf('v1', 'Service'),
  kindOf('v1', 'ConfigMap'),
  kindOf('v1', 'Secret'),
  kindOf('v1', 'ServiceAccount'),
  kindOf('v1', 'ResourceQuota'),
  kindOf('v1', 'Node'),
  kindOf('apps/v1', 'Deployment'),
  kindOf('apps/v1', 'DaemonSet'),
  kindOf('rbac.authorization.k8s.io/v1', 'ClusterRole'),
  kindOf(HOOKS, 'ValidatingWebhookConfiguration'),
  kindOf(HOOKS, 'MutatingWebhookConfiguration'),
  kindOf('networking.k8s.io/v1', 'NetworkPolicy'),
  kindOf('policy/v1', 'PodDisruptionBudget'),
  kindOf('storage.k8s.io/v1', 'CSIDriver'),
]

/** The definitions of those kinds of CUSTOM that are not in test/crds. */
export const MERGE_CRDS = join(import.meta.dirname, '../../fixtures/crds')

/** Kinds that a CustomResourceDefinition of the tests defines. */
export const CUSTOM: readonly MergeKind[] = [
  kindOf('hco.kubevirt.io/v1', 'HyperConverged', { onlyName: 'kubevirt-hyperconverged' }),
  kindOf(MCO, 'MachineConfig'),
  kindOf(MCO, 'KubeletConfig'),
  kindOf(MCO, 'MachineConfigPool'),
  kindOf('metallb.io/v1beta1', 'MetalLB'),
  kindOf('operator.openshift.io/v1', 'KubeDescheduler', { onlyName: 'cluster' }),
  kindOf('remediation.medik8s.io/v1alpha1', 'NodeHealthCheck'),
  kindOf('kubevirt.io/v1', 'VirtualMachine'),
  kindOf('cdi.kubevirt.io/v1beta1', 'CDI'),
  kindOf('machine.openshift.io/v1beta1', 'MachineSet'),
  kindOf('security.openshift.io/v1', 'SecurityContextConstraints'),
  kindOf('nmstate.io/v1', 'NodeNetworkConfigurationPolicy'),
  kindOf('monitoring.coreos.com/v1', 'ServiceMonitor'),
  kindOf('monitoring.coreos.com/v1', 'PrometheusRule'),
  kindOf('monitoring.rhobs/v1alpha1', 'MonitoringStack'),
  kindOf('work.open-cluster-management.io/v1', 'ManifestWork'),
]

/** Whether a definition of test/crds defines one of them. */
export const isMerged = (definition: Definition): boolean =>
  CUSTOM.some(
    ({ apiVersion, kind }) =>
      kind === definition.kind && groupOf(apiVersion) === groupOfDefinition(definition),
  )
