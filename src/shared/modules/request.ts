import { canonicalJson } from '../engine/json/canonical.ts'
import { sha256 } from '../ops/digest.ts'
import type { Evaluation } from './evaluation.ts'
import { LIMITS, type Module, type ModuleError } from './module.ts'

/** What the program is asked, and what it is known by to whoever was asked the same before. */
export interface ProgramRequest {
  readonly text: string
  readonly key: string
}

/** The request for an evaluation, the same for the same one however its maps are ordered, or why there can be none. */
export function requestOf({
  module,
  input,
  context,
  policies,
}: Evaluation): ProgramRequest | ModuleError {
  const given = canonicalJson(input)
  if (Buffer.byteLength(given) > LIMITS.inputBytes) {
    const message = `more than ${LIMITS.inputBytes} bytes`
    return { code: 'input', path: 'spec.input', message }
  }
  const { name, namespace } = context
  const identity = [idOf(module), given, name, namespace, policies && idOf(policies)]
  return {
    text: canonicalJson({
      ...sourceOf(module),
      input,
      context: { name, namespace },
      policies: policies && sourceOf(policies),
    }),
    key: sha256(JSON.stringify(identity)),
  }
}

const idOf = ({ digest, path }: Module) => [digest, path]
const sourceOf = ({ files, path }: Module) => ({ files, path })
