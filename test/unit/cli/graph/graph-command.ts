import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { PROGRAM } from '../../modules/evaluations.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const MAIN = join(ROOT, 'src/cli/main.ts')

/** The samples that come with the program. */
export const SAMPLES = join(ROOT, 'assets/graph/samples')

/** Runs `graph …` from the sources, with the evaluator that ships unless the environment is another one. */
export function graph(
  args: readonly string[],
  {
    input = '',
    env = { CUE_EVALUATOR: PROGRAM },
  }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'graph', ...args], {
    input,
    env,
    encoding: 'utf8',
  })
  return { code: status, stdout, stderr }
}

/** A Transform as people write it. */
export const transformText = (spec: object, metadata: object = { name: 'hello' }): string =>
  stringify({ apiVersion: 'platform.pequod.io/v1alpha1', kind: 'Transform', metadata, spec })

/** A module of one ConfigMap, which says what the input says. */
export const MODULE = `package greeting

#Input: text: string & !=""
input: #Input
context: {name: string, namespace: string}
graph: nodes: [{
	id: "greeting"
	object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: context.name, data: text: input.text}
}]
`
