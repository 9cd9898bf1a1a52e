import { readFileSync } from 'node:fs'

import { type Asset, kindKey, loadCatalog } from '../../../src/shared/catalog/catalog.ts'
import type { Facts } from '../../../src/shared/catalog/facts.ts'
import { deepFreeze } from '../engine/schemas.ts'

/** Reads a file of the catalog that the product comes with. */
export const readAsset = (name: string) =>
  readFileSync(new URL(`../../../assets/${name}`, import.meta.url), 'utf8')

/** The catalog that the product comes with. */
export const catalog = loadCatalog(readAsset)

export const assetNamed = (wanted: string): Asset => {
  const asset = catalog.find(({ name }) => name === wanted)
  if (!asset) throw new Error(`the catalog has no asset ${wanted}`)
  return asset
}

/** Each kind of the catalog, in every version that it knows. */
export const everythingServed: Facts['served'] = Object.fromEntries([
  ...catalog.map(({ object }) => [kindKey(object), object.versions]),
  ['self-node-remediation.medik8s.io/SelfNodeRemediationTemplate', ['v1alpha1']],
])

/** A cluster that serves everything, has no special hardware and nothing special about its shape. */
const plain: Facts = {
  hco: { apiVersion: 'hco.kubevirt.io/v1', namespace: 'kubevirt', annotations: {}, spec: {} },
  hardware: {
    pciDevicesPresent: false,
    numaNodesPresent: false,
    gpuPresent: false,
    vfioCapable: false,
    usbDevicesPresent: false,
    amdNodesPresent: false,
  },
  topology: {
    compact: false,
    singleNode: false,
    schedulableMasters: false,
    hostedControlPlane: false,
    foreignKubeletConfig: false,
  },
  served: everythingServed,
  enums: { 'descheduler-loadaware': { profiles: ['LongLifecycle'] } },
  images: {},
  pools: { worker: 3 },
}

/** What a test says about a cluster; the rest is plain. */
export interface Changes {
  readonly hco?: Partial<Facts['hco']>
  readonly hardware?: Partial<Facts['hardware']>
  readonly topology?: Partial<Facts['topology']>
  readonly served?: Facts['served']
  readonly enums?: Facts['enums']
  readonly images?: Facts['images']
  readonly pools?: Facts['pools']
}

export const factsWith = ({ hco, hardware, topology, ...rest }: Changes = {}): Facts =>
  deepFreeze({
    ...structuredClone(plain),
    ...rest,
    hco: { ...plain.hco, ...hco },
    hardware: { ...plain.hardware, ...hardware },
    topology: { ...plain.topology, ...topology },
  })
