import { createHash } from 'node:crypto'
import { npmPurl } from './bundled-packages.ts'
import type { Component } from './component.ts'

/** What the bill of materials is of. */
export interface Product {
  readonly name: string
  readonly version: string
  readonly license: string
}

/**
 * A bill of materials in CycloneDX: our program and what is in it. `npm sbom` lists what is installed, the half of
 * which is not in the bundle, and without the development dependencies leaves out what is both, as yaml.
 */
export function sbomOf(product: Product, parts: readonly Component[]) {
  // Some are there at two paths.
  const components = [
    ...new Map(parts.map((one) => [one.purl, componentOf(one)] as const)).values(),
  ]
  const own = { type: 'application', ...identityOf({ ...product, purl: npmPurl(product) }) }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    // Of the content, so that the same sources give the same file.
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([own, components]))}`,
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: own },
    components,
    dependencies: [
      { ref: own['bom-ref'], dependsOn: components.map((component) => component['bom-ref']) },
    ],
  }
}

const componentOf = ({ integrity, ...one }: Component) => ({
  type: 'library',
  ...identityOf(one),
  ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
})

const identityOf = (one: Product & Pick<Component, 'purl'>) => ({
  'bom-ref': one.purl,
  name: one.name,
  version: one.version,
  licenses: [
    /[ (]/.test(one.license) ? { expression: one.license } : { license: { id: one.license } },
  ],
  purl: one.purl,
})

// CycloneDX wants the name with a dash and hexadecimal digits.
function hashOf(integrity: string) {
  const [, bits, digest = ''] = /^sha(\d+)-(.*)$/.exec(integrity) ?? []
  return { alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') }
}

const uuidOf = (text: string) =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    // Version 8 of RFC 9562: the digits are ours to choose.
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
