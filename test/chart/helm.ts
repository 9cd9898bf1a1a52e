import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import { findTool } from '../../tools/go-programs/tools.ts'
import { environment } from '../cluster/harness/fixture.ts'

/** The chart's folder. */
export const CHART = join(import.meta.dirname, '../../charts/virt-platform-autopilot')
export const NAMESPACE = 'virt-platform-autopilot'
// What a chart may ask of a cluster that helm does not see.
const KUBERNETES = '1.34.0'

/** Values as an admin writes them. */
export type Values = Readonly<Record<string, unknown>>

/** How helm ended, and what it said. */
export interface Said {
  readonly isGood: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Gives a function that runs helm in an environment, with values, where there are any, for its standard input. */
export async function helmOn(env: Readonly<Record<string, string>> = { HOME: '/nonexistent' }) {
  const file = await findTool('helm', environment(), () => undefined)
  return async (args: readonly string[], values?: Values | string): Promise<Said> => {
    const all = values === undefined ? args : [...args, '--values=-']
    const running = promisify(execFile)(file, all, { env: { PATH: environment().PATH, ...env } })
    const input = typeof values === 'string' ? values : JSON.stringify(values)
    running.child.stdin?.on('error', () => undefined).end(input)
    return running.then(
      ({ stdout, stderr }) => ({ isGood: true, stdout, stderr }),
      ({ stdout = '', stderr = '', message }) => ({
        isGood: false,
        stdout,
        stderr: stderr || message,
      }),
    )
  }
}

/** The arguments that print what would be installed. */
export const templateArgs = (namespace = NAMESPACE) => [
  'template',
  'virt-platform-autopilot',
  CHART,
  `--namespace=${namespace}`,
  `--kube-version=${KUBERNETES}`,
]

/** The arguments that print, beside what would be installed, what helm says afterwards. */
export const notesArgs = () => {
  const [, ...rest] = templateArgs()
  const args = rest.filter((arg) => !arg.startsWith('--kube-version'))
  return ['install', ...args, '--dry-run=client']
}

/** The objects of a rendered chart. */
export const objectsIn = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return (document.toJSON() as KubeObject | null) ?? []
  })
