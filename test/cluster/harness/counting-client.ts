import type { Client, RequestInput } from '../../../src/shared/cluster/client.ts'

export interface CountingClient extends Client {
  /** The requests about one object so far: the method, or `dry run`. */
  readonly asked: string[]
}

/**
 * The client, which writes down what is asked about one object by name. The API server answers all of it; `before` may
 * make it wait, as for somebody who is faster.
 */
export function countingClient(
  client: Client,
  path: string,
  before: (what: string) => Promise<unknown> = async () => undefined,
): CountingClient {
  const asked: string[] = []
  const send: Client['send'] = async (requested, input = {}) => {
    if (requested === path) {
      const what = describe(input)
      asked.push(what)
      await before(what)
    }
    return client.send(requested, input)
  }
  return { ...client, send, asked }
}

const describe = ({ method = 'GET', query }: RequestInput) =>
  query?.dryRun === undefined ? method : 'dry run'
