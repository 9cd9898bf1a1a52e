import { type Account, accountUser } from '../engine/identity.ts'
import type { Client, RequestInput } from './client.ts'

/**
 * The same client in the name of a ServiceAccount: it may do what that account may, and nothing else. No group is named, so that the
 * API server adds those that every account of the namespace has. It shares the connections; to close it is not ours.
 * See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonate(client: Client, { namespace, name }: Account): Client {
  const as = (input: RequestInput = {}): RequestInput => ({
    ...input,
    headers: { ...input.headers, 'impersonate-user': accountUser(namespace, name) },
  })
  return {
    ...client,
    send: (path, input) => client.send(path, as(input)),
    stream: (path, input) => client.stream(path, as(input)),
    close: async () => undefined,
  }
}
