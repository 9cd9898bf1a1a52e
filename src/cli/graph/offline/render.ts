import { causeText } from '../../../shared/graph/fault.ts'
import { folderModule } from '../../../shared/modules/folder.ts'
import type { Env } from '../../../shared/ops/env.ts'
import { kubernetesYaml } from '../../render/formats.ts'
import { decided, UndecidedError, warn } from '../../run-cli.ts'
import { withEvaluator } from '../evaluator.ts'
import { policiesAt, remarksOn } from '../preview.ts'
import { type FilePreview, type OfflineOptions, previewFile } from './preview-file.ts'
import { inFolder, onlyTransform, readTransforms, type TransformFiles } from './transforms.ts'

export interface RenderOptions extends OfflineOptions {
  /** A folder whose module is rendered, whatever the Transform names. */
  readonly module?: string
  readonly output: keyof typeof FORMATS
}

/**
 * The `graph render` command: prints what a Transform is rendered to. Returns the exit code: 0 where it is, 1 where it is refused or
 * violates a policy. Throws an UndecidedError where that cannot be told.
 */
export const render = (file: string, options: RenderOptions, env: Env): Promise<number> =>
  decided(renderFile(file, options, env))

async function renderFile(file: string, options: RenderOptions, env: Env): Promise<number> {
  const files = await readTransforms([file], options.namespace)
  const transform = onlyTransform(file, files)
  const moduleOf = options.module === undefined ? files.moduleOf : moduleAt(options.module)
  const policies = policiesAt(options.policies)
  const rendered = await withEvaluator(options.cueEvaluator, env, (evaluator) =>
    previewFile(transform, { evaluator, policies, moduleOf }),
  )
  const { nodes, fault } = rendered
  const remarks = remarksOn(rendered)
  if (!(nodes || fault))
    throw new UndecidedError(`${remarks.join('; ')}: give it with --module FOLDER`)
  process.stdout.write(FORMATS[options.output](rendered))
  for (const line of [...(fault?.causes ?? []).map(causeText), ...remarks]) warn(line)
  return fault ? 1 : 0
}

function moduleAt(folder: string): TransformFiles['moduleOf'] {
  const module = folderModule(folder)
  if (!module.ok) throw new Error(`${folder}: ${module.error.message}`)
  return ({ spec: { cueRef } }) => inFolder(module, cueRef.path)
}

/** How `graph render` prints, by the name of its `-o`. */
const FORMATS = { yaml, json } as const

/** The objects as YAML documents, each under the id of its node. */
function yaml({ nodes = [] }: FilePreview): string {
  return nodes.map(({ id, object }) => `# ${id}\n${kubernetesYaml(object)}`).join('---\n')
}

/** All there is to know: the nodes with their order and readiness, what is violated, and why it is refused. */
function json({ nodes = [], fault, violations, warnings }: FilePreview): string {
  const all = { ...(fault && { fault }), violations, warnings, nodes }
  return `${JSON.stringify(all, undefined, 2)}\n`
}
