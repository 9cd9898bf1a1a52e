import { escapeControls } from '../../../shared/engine/format-value.ts'
import { titleOf } from '../../../shared/engine/json/object.ts'
import { causeText } from '../../../shared/graph/fault.ts'
import type { Env } from '../../../shared/ops/env.ts'
import type { Fault, Manifest } from '../../check/manifests.ts'
import { titleOfFile } from '../../read-objects.ts'
import { decided, warn } from '../../run-cli.ts'
import { withEvaluator } from '../evaluator.ts'
import { policiesAt, remarksOn } from '../preview.ts'
import {
  type FilePreview,
  type FilePreviewDeps,
  type OfflineOptions,
  previewFile,
} from './preview-file.ts'
import { readTransforms } from './transforms.ts'

export interface CheckOptions extends OfflineOptions {
  readonly output: keyof typeof FORMATS
}

/** What would become of one Transform. */
export interface Finding extends Pick<FilePreview, 'violations'> {
  readonly file: string
  readonly line: number
  /** As people name it; none of a file that cannot be read. */
  readonly object?: string
  readonly verdict: 'accepted' | 'refused' | 'unknown'
  readonly reason: string
  /** Why it is refused, a field each. */
  readonly causes: NonNullable<FilePreview['fault']>['causes']
  /** What its author is warned of. */
  readonly warnings: readonly string[]
}

/**
 * The `graph check` command: prints what becomes of the Transforms in files. Returns the exit code: 0 where all are accepted, 1 where
 * one is not, 2 where a file cannot be read or holds none. Throws an UndecidedError where nothing can be told.
 */
export const check = (files: readonly string[], options: CheckOptions, env: Env): Promise<number> =>
  decided(checkFiles(files, options, env))

async function checkFiles(
  paths: readonly string[],
  { namespace, policies, cueEvaluator, output }: CheckOptions,
  env: Env,
): Promise<number> {
  const { transforms, skipped, faults, moduleOf } = await readTransforms(paths, namespace)
  for (const line of skipped) warn(line)
  const judged = await withEvaluator(cueEvaluator, env, async (evaluator) => {
    const deps = { evaluator, policies: policiesAt(policies), moduleOf }
    return Promise.all(transforms.map((manifest) => judge(manifest, deps)))
  })
  process.stdout.write(FORMATS[output]([...judged, ...faults.map(unread)]))
  const refused = judged.filter(({ verdict }) => verdict === 'refused').length
  warn(`Transforms: ${judged.length}, of them refused: ${refused}`)
  // Whoever pipes into it must not take a tool that found nothing for Transforms that are right.
  if (faults.length > 0 || judged.length === 0) return 2
  return refused > 0 ? 1 : 0
}

async function judge({ file, line, object }: Manifest, deps: FilePreviewDeps): Promise<Finding> {
  const found = await previewFile(object, deps)
  const { nodes, fault, violations } = found
  return {
    file,
    line,
    object: titleOf(object),
    verdict: fault ? 'refused' : 'accepted',
    reason: fault?.reason ?? (nodes ? 'Rendered' : 'NotRendered'),
    causes: fault?.causes ?? [],
    warnings: remarksOn(found),
    violations,
  }
}

const unread = ({ file, line, message }: Fault): Finding => ({
  file,
  line,
  verdict: 'unknown',
  reason: 'Unreadable',
  causes: [{ field: '', message }],
  warnings: [],
  violations: [],
})

/** How `graph check` prints, by the name of its `-o`. */
export const FORMATS = { text, json } as const

/** A line for each cause and warning, with the place and the object, so that each can be found alone; one where there are none. */
function text(findings: readonly Finding[]): string {
  return findings
    .flatMap((finding) => {
      const { file, line, object, verdict, reason, causes, warnings } = finding
      const head = [`${titleOfFile(file)}:${line}`, ...(object === undefined ? [] : [object])]
      const said = `${verdict} (${reason})`
      const lines = causes.map((cause) => [...head, said, causeText(cause)])
      return [
        ...(lines.length > 0 ? lines : [[...head, said]]),
        ...warnings.map((warning) => [...head, 'warning', warning]),
      ]
    })
    .map((parts) => `${escapeControls(parts.join(': '))}\n`)
    .join('')
}

function json(findings: readonly Finding[]): string {
  return `${JSON.stringify({ findings }, undefined, 2)}\n`
}
