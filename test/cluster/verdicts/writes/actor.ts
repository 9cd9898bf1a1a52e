import { ApiError, type Client, type RequestInput } from '../../../../src/shared/cluster/client.ts'
import { isKubeObject } from '../../../../src/shared/engine/json/object.ts'
import { PLATFORM_ADMINS } from '../../../../tools/control-plane/kubeconfig.ts'
import type { AutopilotCluster } from '../../harness/autopilot-fixture.ts'

/** What somebody was told about a write. */
export interface Told {
  /** The last status that the API server answered with; undefined where it was not asked. */
  readonly status: number | undefined
  readonly warnings: readonly string[]
  readonly error: string
}

/** Somebody with the rights of an administrator, who writes in any way there is. */
export interface Actor {
  /** Sends one request. */
  readonly send: (path: string, input: RequestInput) => Promise<Told>
  /** Runs kubectl, with something to read, and an editor. */
  readonly kubectl: (args: readonly string[], input?: object, editor?: string) => Promise<Told>
}

/** Lets somebody of this name write. */
export const createActor = (
  client: Client,
  name: string,
  { person, untilCached }: Pick<AutopilotCluster, 'person' | 'untilCached'>,
): Actor => ({
  async send(path, input) {
    const headers = { 'impersonate-user': name, 'impersonate-group': PLATFORM_ADMINS }
    try {
      const reply = await client.send(path, { ...input, headers })
      if (isStored(input)) await untilCached(pathOf(path, input, reply.body))
      return { status: reply.status, warnings: warningsIn(reply.headers.warning), error: '' }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { status: error.status, warnings: [], error: error.message }
    }
  },
  async kubectl(args, input, editor) {
    // Only so does it tell the status of each answer.
    const { stderr } = await person(name)([...args, '-v=6'], {
      ...(input !== undefined && { input: JSON.stringify(input) }),
      ...(editor !== undefined && { env: { KUBE_EDITOR: editor } }),
    })
    return toldBy(stderr)
  },
})

const isStored = ({ method = 'GET', query }: RequestInput) =>
  ['PATCH', 'PUT', 'POST'].includes(method) && query?.dryRun === undefined

/** What was written: an object, rather than a part of one that has a path of its own. */
const pathOf = (path: string, { method }: RequestInput, body: unknown) =>
  method === 'POST' && isKubeObject(body) ? `${path}/${body.metadata.name}` : path

// RFC 9110: each a code, an agent, and a text in quotes.
const warningsIn = (header: string | readonly string[] = []): readonly string[] =>
  [
    ...[header]
      .flat()
      .join()
      .matchAll(/\d+ \S+ "((?:\\.|[^"\\])*)"/gs),
  ].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))

const WARNING = 'Warning: '

function toldBy(stderr: string): Told {
  const lines = stderr.split('\n').filter((line) => line !== '')
  const logged = lines.filter((line) => /^[IWE]\d{4} /.test(line))
  const statuses = logged.flatMap((line) => /status="(\d+)/.exec(line)?.[1] ?? [])
  const warnings = lines.filter((line) => line.startsWith(WARNING))
  const others = lines.filter((line) => !logged.includes(line) && !warnings.includes(line))
  const status = statuses.at(-1)
  return {
    status: status === undefined ? undefined : Number(status),
    warnings: warnings.map((line) => line.slice(WARNING.length)),
    error: others.join('\n'),
  }
}
