import type { JsonMap, KubeObject } from '../engine/json/object.ts'
import type { Module, ModuleError } from './module.ts'

/** What is evaluated: a module with the input of one object, and the platform's policies over what comes out. */
export interface Evaluation {
  readonly module: Module
  /** `spec.input`; an empty map where there is none. */
  readonly input: JsonMap
  /** Whom the module is evaluated for. */
  readonly context: { readonly name: string; readonly namespace: string }
  /** The platform's policy package: it sees `input`, `context` and `graph`. */
  readonly policies?: Module
}

/** How long an evaluation may take. */
export interface Patience {
  /** Of the evaluation itself, the start of its process included. */
  readonly deadlineMs: number
  /** How long it may wait for its turn; for ever where this is not said. */
  readonly waitMs?: number
  /** Of those with one key, a namespace's name for example, one is evaluated at a time. */
  readonly turnOf?: string
}

/** A policy that what was rendered violates. */
export interface Violation {
  readonly name: string
  readonly severity: Severity
  /** The field at fault, as the policy names it; may be empty. */
  readonly path: string
  readonly message: string
  /** Whose policy it is. */
  readonly source: 'module' | 'platform'
}

export type Severity = 'Error' | 'Warning' | 'Info'

/** What every node has: that the rest of it fits a graph has not been looked at. */
export interface RenderedNode {
  readonly id: string
  readonly object: KubeObject
  readonly [field: string]: unknown
}

/** Nodes and violations: there may be both. */
export interface Rendered {
  readonly kind: 'Rendered'
  /** The list `graph: nodes` of the module, in its order. */
  readonly nodes: readonly RenderedNode[]
  readonly violations: readonly Violation[]
  /** The policies whose severity the platform lets an object change. */
  readonly overridable: readonly string[]
}

/** The module, its input or the platform's policies are wrong: with the same ones it will be so again. */
export interface Refused {
  readonly kind: 'Refused'
  /** One for each field, in one order; never empty. */
  readonly errors: readonly ModuleError[]
}

/** No answer within the deadline. */
export interface TimedOut {
  readonly kind: 'TimedOut'
  readonly deadlineMs: number
}

/** More memory than an evaluation may have, or an answer larger than one may be. */
export interface TooMuch {
  readonly kind: 'TooMuch'
  readonly what: 'memory' | 'output'
}

/** No turn within `waitMs`: others are being evaluated. It says nothing about the module. */
export interface Busy {
  readonly kind: 'Busy'
}

/** The program is missing, or ended otherwise than it may: says nothing about the module. */
export interface EvaluatorUnavailable {
  readonly kind: 'EvaluatorUnavailable'
  readonly message: string
}

/** What came of an evaluation. The first four are remembered. */
export type Outcome = Rendered | Refused | TimedOut | TooMuch | Busy | EvaluatorUnavailable
