import type { Lock } from '../licences.ts'

/** The part of esbuild's metafile that is read. */
export interface Metafile {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }
    >
  >
}

/** A package of which the bundle holds code, and where it is. */
export interface BundledPackage {
  /** As in the lock file: `node_modules/a/node_modules/b`. */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string
}

/** The packages of which a bundle holds code, by their paths; throws where the lock file does not say all of one. */
export function bundledPackages({ outputs }: Metafile, lock: Lock): readonly BundledPackage[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
  const paths = inputs.flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 ? (PACKAGE.exec(file)?.[0] ?? []) : [],
  )
  return [...new Set(paths)].sort().map((path) => {
    const { version, license, integrity } = lock.packages[path] ?? {}
    if (!version || !license || !integrity)
      throw new Error(`${path} is in the bundle, and package-lock.json does not say all of it`)
    return { path, name: path.replace(/^.*node_modules\//, ''), version, license, integrity }
  })
}

// From the first node_modules to the name after the last one.
const PACKAGE = /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/
