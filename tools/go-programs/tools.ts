import { resolve } from 'node:path'
import type { Env } from '../../src/shared/ops/env.ts'
import { builtProgram } from './cache.ts'
import type { GoProgram } from './module.ts'

const tool = (name: string, takes: string): GoProgram => ({
  name,
  title: name,
  takes,
  way: `set ${variableOf(name)} to the path of one`,
})
const variableOf = (name: string) => name.toUpperCase().replaceAll('-', '_')

/** What tests and rehearsals run besides the control plane; the evaluator ships, too. */
const TOOLS = {
  promtool: tool('promtool', 'half a minute'),
  helm: tool('helm', 'half a minute'),
  kwok: tool('kwok', 'half a minute'),
  kind: tool('kind', 'half a minute'),
  'cue-evaluator': { ...tool('cue-evaluator', 'a minute'), isModule: true },
} as const

/** The name of one of them. */
export type ToolName = keyof typeof TOOLS

/** Their names. */
export const TOOL_NAMES = Object.keys(TOOLS) as readonly ToolName[]

/**
 * Where a tool is: the one that the variable of its name says (HELM, PROMTOOL, KWOK, KIND, CUE_EVALUATOR), or ours, built unless this very content was
 * built before.
 *
 * @throws with the way out, where it is neither given nor can be built
 */
export async function findTool(
  name: ToolName,
  env: Env,
  print: (line: string) => void,
): Promise<string> {
  const given = env[variableOf(name)]
  return given ? resolve(given) : builtProgram(TOOLS[name], env, print)
}
