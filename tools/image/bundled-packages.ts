import type { Lock } from '../licences.ts'
import type { Component } from './component.ts'

/** The part of esbuild's metafile that is read. */
export interface Metafile {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }
    >
  >
}

/** The packages of which a bundle holds code, by their paths; throws where the lock file does not say all of one. */
export function bundledPackages({ outputs }: Metafile, lock: Lock): readonly Component[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
  const paths = inputs.flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 ? (PACKAGE.exec(file)?.[0] ?? []) : [],
  )
  return [...new Set(paths)].sort().map((path) => {
    const { version, license, integrity } = lock.packages[path] ?? {}
    if (!version || !license || !integrity)
      throw new Error(`${path} is in the bundle, and package-lock.json does not say all of it`)
    const name = path.replace(/^.*node_modules\//, '')
    return { path, name, version, license, purl: npmPurl({ name, version }), integrity }
  })
}

/** How the world names a package of npm's. */
export const npmPurl = ({ name, version }: { readonly name: string; readonly version: string }) =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

// From the first node_modules to the name after the last one.
const PACKAGE = /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/
