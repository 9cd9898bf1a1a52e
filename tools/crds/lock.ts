import type { Definition } from '../control-plane/definitions.ts'
import type { Change } from './overlay.ts'

/** A Go module in one version; its sum is in crds.go.sum. */
export interface GoModule {
  readonly module: string
  readonly version: string
}

/** The source archive of a Python package in one version. */
export interface PythonPackage {
  readonly package: string
  readonly version: string
  readonly sha256: string
}

/** Where definitions come from, and on which terms. */
export type Source = (GoModule | PythonPackage) & {
  readonly licence: string
  /** What the licence wants told with each copy. */
  readonly notice?: string
}

/** What a schema alone lacks to be a definition. */
export interface Skeleton {
  readonly scope: 'Cluster' | 'Namespaced'
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly hasStatus: boolean
}

interface Versions {
  readonly served: readonly string[]
  readonly storage: string
}

/** A definition that somebody wrote by hand, and why. */
export type StandIn = Definition & Versions & { readonly format: 'standin'; readonly why: string }

/** How the published file holds the definition. */
export type Format =
  | { readonly format: 'yaml' }
  | { readonly format: 'go-embed'; readonly key: string }
  | { readonly format: 'go-schema'; readonly key: string; readonly skeleton: Skeleton }
  | { readonly format: 'openapi'; readonly skeleton: Skeleton }
  | { readonly format: 'controller-gen'; readonly goPackage: string }

/** A definition that is derived from a file of a package. */
export type Published = Definition &
  Versions &
  Format & {
    /** The module or package. */
    readonly source: string
    readonly path: string
    /** Of the file as it was published. */
    readonly sha256: string
    readonly overlay?: readonly Change[]
  }

/** A definition that is made from Go types. */
export type Generated = Extract<Published, { readonly format: 'controller-gen' }>

/** What test/crds/crds.lock.yaml holds. */
export interface Lock {
  /** The controller-gen that makes definitions of Go types. */
  readonly generator: GoModule
  readonly sources: readonly Source[]
  readonly definitions: readonly (Published | StandIn)[]
  /** What there is elsewhere, and is not here for a reason. */
  readonly absent: readonly { readonly name: string; readonly why: string }[]
}

export const nameOf = (source: GoModule | PythonPackage): string =>
  'module' in source ? source.module : source.package

/** The package that a definition comes from. */
export function sourceOf({ sources }: Lock, { name, source }: Published): Source {
  const found = sources.find((candidate) => nameOf(candidate) === source)
  if (!found) throw new Error(`${name}: the lock has no source ${source}`)
  return found
}

export const isPublished = (definition: Published | StandIn): definition is Published =>
  definition.format !== 'standin'
