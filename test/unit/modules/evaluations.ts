import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import type { Test } from 'tap'
import type { Evaluation, Outcome, Patience } from '../../../src/shared/modules/evaluation.ts'
import { Evaluator, type EvaluatorOptions } from '../../../src/shared/modules/evaluator.ts'
import { createModule, type Module } from '../../../src/shared/modules/module.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'

/** The program that evaluates CUE, as it ships. */
export const PROGRAM = await findTool('cue-evaluator', env, () => undefined)

/** A module of these files, or of one text. */
export function moduleOf(files: Readonly<Record<string, string>> | string, path = ''): Module {
  const made = createModule(typeof files === 'string' ? { 'm.cue': files } : files, path)
  if (!made.ok) throw new Error(made.error.message)
  return made.value
}

/** A module that takes everything, and whose one node has these fields. */
export const nodeWith = (fields: string, more = '') =>
  moduleOf(`package m
${more}
#Input: {...}
input: #Input
graph: nodes: [{id: "a", object: {apiVersion: "v1", kind: "A", metadata: name: "a", ${fields}}}]
`)

export type Asked = Partial<Evaluation> & Pick<Evaluation, 'module'>
type Evaluate = (asked: Asked, patience?: Partial<Patience>) => Promise<Outcome>

/** An evaluator that is closed with the test, and how to ask it in short; five seconds, unless the test says less. */
export function evaluatorOf(t: Test, options: EvaluatorOptions) {
  const evaluator = new Evaluator(options)
  t.teardown(() => evaluator.close())
  const evaluate: Evaluate = (asked, patience = {}) =>
    evaluator.evaluate(
      { input: {}, context: { name: 'shop', namespace: 'web' }, ...asked },
      { deadlineMs: 5_000, ...patience },
    )
  return { evaluator, evaluate }
}

/** Evaluates once with the real program. */
export const evaluate = (t: Test, asked: Asked, deadlineMs = 5_000): Promise<Outcome> =>
  evaluatorOf(t, { program: PROGRAM }).evaluate(asked, { deadlineMs })

/** What was refused, a line for each: `CODE PATH: MESSAGE @ FILE:LINE:COLUMN`. */
export function faultsOf(outcome: Outcome): readonly string[] {
  if (outcome.kind !== 'Refused') return [outcome.kind]
  return outcome.errors.map(
    ({ code, path, message, position = '-' }) => `${code} ${path}: ${message} @ ${position}`,
  )
}

/** A program of the test's own, in shell, that answers an empty graph after its body; and what it wrote into LOG. */
export function shellProgram(t: Test, body: string) {
  const folder = t.testdir()
  const file = join(folder, 'program')
  const log = join(folder, 'log')
  writeFileSync(log, '')
  writeFileSync(file, `#!/bin/sh\nLOG=${log}\n${body}\necho '{"nodes":[]}'\n`)
  chmodSync(file, 0o755)
  return { file, lines: () => readFileSync(log, 'utf8').split('\n').filter(Boolean) }
}
