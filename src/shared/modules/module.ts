import { canonicalJson } from '../engine/json/canonical.ts'
import { err, ok, type Result } from '../engine/result.ts'
import { sha256 } from '../ops/digest.ts'

/** A module: the files of which one CUE package is evaluated. */
export interface Module {
  /** The texts of the files, by their paths with `/` between the parts. */
  readonly files: Readonly<Record<string, string>>
  /** The folder of the package; empty where it is the uppermost one. */
  readonly path: string
  /** `sha256:` and hexadecimal digits, over the files: equal files have equal digests, wherever they came from. */
  readonly digest: string
}

/** What is wrong with a module, or with what it was given, for its author or its user. */
export interface ModuleError {
  readonly code: ModuleErrorCode
  /** The field at fault: `spec.input.ports[0]` of the input, `graph.nodes[2].object` in the module, or empty. */
  readonly path: string
  readonly message: string
  /** The place in the module as `FILE:LINE:COLUMN`, where there is one. */
  readonly position?: string
}

/**
 * What was at fault: the files, or their size (`module`); their syntax and imports (`load`); the input, which does not fit `#Input`
 * (`input`); the evaluation with this input (`evaluate`); the platform's policies (`policy`); a fault of ours (`internal`).
 */
export type ModuleErrorCode = 'module' | 'load' | 'input' | 'evaluate' | 'policy' | 'internal'

/** What a module, its input and an answer may have; the program that evaluates has these limits too, and one for nesting. */
export const LIMITS = {
  files: 100,
  /** Of all files together, in UTF-8. */
  moduleBytes: 1 << 20,
  /** Of the input as JSON. */
  inputBytes: 256 << 10,
  answerBytes: 8 << 20,
} as const

/** A module of these files, or why they are none. */
export function createModule(
  files: Readonly<Record<string, string>>,
  path = '',
): Result<Module, ModuleError> {
  const fault = faultOf(files, path)
  if (fault) return err({ code: 'module', path: '', message: fault })
  return ok({ files, path, digest: `sha256:${sha256(canonicalJson(files))}` })
}

/** A module of one text, as `cueRef.ref` of type `inline` holds it. */
export const inlineModule = (text: string) => createModule({ 'module.cue': text })

/** A module of a ConfigMap's `data`, whose keys are the names of the files. */
export function configMapModule(
  data: Readonly<Record<string, string>> = {},
): Result<Module, ModuleError> {
  const other = Object.keys(data).find((key) => !key.endsWith('.cue'))
  if (other === undefined) return createModule(data)
  const message = `the key ${other} is not the name of a CUE file: all of them end with .cue`
  return err({ code: 'module', path: '', message })
}

function faultOf(files: Readonly<Record<string, string>>, path: string): string | undefined {
  const names = Object.keys(files)
  if (!names.some((name) => name.endsWith('.cue'))) return 'there is no CUE file in the module'
  if (names.length > LIMITS.files) return `${names.length} files, more than ${LIMITS.files}`
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > LIMITS.moduleBytes) return `${bytes} bytes, more than ${LIMITS.moduleBytes}`
  if (path !== '' && !isPath(path)) return `${JSON.stringify(path)} is no path within the module`
  const odd = names.find((name) => !isPath(name))
  return odd === undefined ? undefined : `${JSON.stringify(odd)} is no path of a file in a module`
}

// Relative, without `.` and `..`, and nothing that a file system or a log may read in another way.
const isPath = (path: string) =>
  path.length <= 255 && /^(?!.*(^|\/)\.{0,2}(\/|$))[\w.@+/-]+$/.test(path)
