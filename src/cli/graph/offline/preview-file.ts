import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Cause } from '../../../shared/graph/fault.ts'
import type { Rendering } from '../../../shared/graph/rendering.ts'
import type { Transform } from '../../../shared/graph/transform.ts'
import { type PreviewDeps, preview } from '../preview.ts'
import { isClusterScopedOffline } from './cluster-scoped.ts'
import { schemaCauses } from './schema.ts'
import type { TransformFiles } from './transforms.ts'

/** What the commands that need no cluster are told. */
export interface OfflineOptions {
  /** Of Transforms that say none. */
  readonly namespace: string
  readonly policies?: string
  readonly cueEvaluator?: string
}

/** What a Transform of a file is rendered to, or why it is refused; neither where its module is in a cluster only. */
export interface FilePreview extends Omit<Rendering, 'fault'> {
  readonly fault?: {
    /** `Invalid` where it is not as its definition has it, as the API server says of any kind. */
    readonly reason: string
    readonly causes: readonly Cause[]
  }
}

export type FilePreviewDeps = Pick<PreviewDeps, 'evaluator' | 'policies'> &
  Pick<TransformFiles, 'moduleOf'>

const NOTHING = { violations: [], warnings: [] }

/** Renders a Transform of a file without a cluster. Throws an UndecidedError where no evaluator answers. */
export async function previewFile(
  object: KubeObject,
  { moduleOf, ...deps }: FilePreviewDeps,
): Promise<FilePreview> {
  const causes = schemaCauses(object)
  if (causes.length > 0) return { ...NOTHING, fault: { reason: 'Invalid', causes } }
  const transform = object as Transform
  const module = moduleOf(transform)
  if (module)
    return preview(transform, module, { ...deps, scopesOf: async () => isClusterScopedOffline })
  const message = `its module is in the ConfigMap ${transform.spec.cueRef.ref}, which is in none of the files: it is not rendered here`
  return { ...NOTHING, warnings: [message] }
}
