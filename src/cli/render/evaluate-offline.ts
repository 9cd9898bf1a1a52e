import { type Evaluation, evaluate } from '../../reconciler/baseline/gather/evaluation.ts'
import { createStatusDecider } from '../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import type { StickyHardware } from '../../shared/baseline/facts/hardware.ts'
import { UNKNOWN } from '../../shared/baseline/state.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Env } from '../../shared/ops/env.ts'
import { knownSchemas } from '../assets.ts'
import { relatedImages } from '../options.ts'
import { readObjects } from '../read-objects.ts'
import { UsageError, warn } from '../run-cli.ts'
import { chooseHyperConverged, plainHyperConverged } from './hyperconverged.ts'
import { observationsOf, strangersAmong } from './offline-cluster.ts'

/** What is stated of a cluster that is not asked. */
export interface OfflineOptions {
  readonly hco?: string
  readonly hcoNamespace?: string
  readonly nodes?: readonly string[]
  readonly withoutApi?: readonly string[]
  readonly forcePci?: boolean
  readonly forceNuma?: boolean
  readonly forceGpu?: boolean
}

/** Throws a UsageError where something is stated of a cluster that is asked. */
export function refuseOffline(options: OfflineOptions): void {
  const offline = Object.entries(OFFLINE_FLAGS).find(([name]) => name in options)
  if (offline)
    throw new UsageError(`${offline[1]} is of no use with --kubeconfig, which says it all`)
}

const OFFLINE_FLAGS = {
  hco: '--hco',
  nodes: '--nodes',
  withoutApi: '--without-api',
  forcePci: '--force-pci',
  forceNuma: '--force-numa',
  forceGpu: '--force-gpu',
} as const satisfies Readonly<Record<keyof Omit<OfflineOptions, 'hcoNamespace'>, string>>

/** What the product would decide on the cluster that the options describe. */
export function evaluateOffline(catalog: Catalog, options: OfflineOptions, env: Env): Evaluation {
  const objects = (options.nodes ?? []).flatMap(readObjects)
  for (const note of strangersAmong(objects)) warn(note)
  const observations = observationsOf(catalog, {
    hco: hyperConverged(catalog, options),
    objects,
    withoutApis: options.withoutApi ?? [],
    schemas: knownSchemas(),
    images: relatedImages(env),
  })
  const decide = createStatusDecider(catalog, sha256)
  const memory = { ...UNKNOWN, hardware: hardwareThatWas(options) }
  return evaluate({ catalog, decide }, observations, memory, 0)
}

function hyperConverged(catalog: Catalog, { hco: file, hcoNamespace: namespace }: OfflineOptions) {
  if (file === undefined) return plainHyperConverged(catalog, namespace)
  return chooseHyperConverged(catalog, { file, objects: readObjects(file), namespace })
}

/** Hardware that was there a moment ago counts, whatever the nodes have now. */
function hardwareThatWas({ forcePci, forceNuma, forceGpu }: OfflineOptions): StickyHardware {
  // A GPU is a PCI device.
  const pci = { value: Boolean(forcePci || forceGpu) }
  return {
    pciDevicesPresent: pci,
    amd64PciDevicesOnWorkers: pci,
    amd64PciDevicesOnMasters: pci,
    numaNodesPresent: { value: forceNuma ?? false },
    gpuPresent: { value: forceGpu ?? false },
  }
}
