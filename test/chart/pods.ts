import type { KubeObject } from '../../src/shared/engine/json/object.ts'

// biome-ignore lint/suspicious/noExplicitAny: what is rendered is compared at once, a wrong path fails the test
export type Loose = any

/** What a rendered object runs. */
export interface Pod {
  /** Of the object. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Loose
}

/** The pods that these objects run. */
export const podsIn = (objects: readonly KubeObject[]): readonly Pod[] =>
  objects.flatMap((object: Loose) => {
    const { metadata, spec } = object.spec?.template ?? {}
    return spec ? [{ name: object.metadata.name, ...metadata, spec }] : []
  })

/** The pod that the notes have kubectl run, but for its name. */
export function podInNotes(text: string): Loose {
  const [, overrides] = /--overrides='(\{[^']*\})'$/m.exec(text) ?? []
  if (overrides === undefined) throw new Error(`there is no pod in ${text}`)
  return JSON.parse(overrides)
}

/** An object's name among all that are rendered. */
export const refOf = ({ kind, metadata }: KubeObject) =>
  `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
