/** A node whose object is a ConfigMap of the Transform's namespace. */
export const configMapNode = (
  id: string,
  { name = id, data = {}, metadata = {}, ...node }: ConfigMapNode = {},
) => ({
  id,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data },
  ...node,
})

export interface ConfigMapNode {
  /** By default its id. */
  readonly name?: string
  readonly data?: Readonly<Record<string, string>>
  readonly metadata?: object
  readonly dependsOn?: readonly string[]
  readonly applyPolicy?: object
  readonly readyWhen?: readonly object[]
}

/** A module that takes any input and gives these nodes: JSON is CUE. */
export const moduleOf = (...nodes: readonly object[]) => `package graph

#Input: {...}
input: #Input
context: {name: string, namespace: string}
graph: nodes: ${JSON.stringify(nodes, undefined, '\t')}
`
