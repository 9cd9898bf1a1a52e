import { apiVersionOf } from '../api/custom-resource.ts'
import { canonicalJson } from '../engine/json/canonical.ts'
import type { GraphNode } from '../graph-engine/node.ts'
import type { Module } from '../modules/module.ts'
import type { ResourceGraphSpec } from './resource-graph.ts'
import { TRANSFORM, type Transform } from './transform.ts'

export interface GraphSpecInput {
  readonly transform: Transform
  readonly module: Module
  readonly nodes: readonly GraphNode[]
  /** What is stored now. */
  readonly before: ResourceGraphSpec | undefined
  /** RFC 3339. */
  readonly now: string
  readonly digest: (text: string) => string
}

/** The spec of a Transform's ResourceGraph; rendered again to the same, it is the same as before. */
export function graphSpec(input: GraphSpecInput): ResourceGraphSpec {
  const { transform, module, nodes, before, now, digest } = input
  const { name, uid = '' } = transform.metadata
  const { deletionPolicy = 'Delete' } = transform.spec
  const renderHash = digest(canonicalJson({ nodes, deletionPolicy }))
  const isSame = before?.metadata.renderHash === renderHash
  return {
    sourceRef: { apiVersion: apiVersionOf(TRANSFORM), kind: TRANSFORM.kind, name, uid },
    metadata: {
      name,
      version: TRANSFORM.version,
      platformRef: module.digest,
      renderHash,
      renderedAt: isSame ? before.metadata.renderedAt : now,
    },
    deletionPolicy,
    nodes: nodes as ResourceGraphSpec['nodes'],
  }
}
