import { Agent, type Dispatcher, getGlobalDispatcher, request } from 'undici'

const JSON_TYPE = 'application/json'

/** What to send, and the certificate authority and token to send it with. */
export interface Request {
  readonly method?: string
  readonly ca?: string
  readonly token?: string
  readonly accept?: string
  readonly contentType?: string
  readonly body?: unknown
  readonly timeoutMs?: number
}

/** The status of an answer, and its text. */
export interface Reply {
  readonly status: number
  readonly text: string
}

const agents = new Map<string, Agent>()

function agentFor(ca: string): Agent {
  const agent = agents.get(ca) ?? new Agent({ connect: { ca }, allowH2: false })
  agents.set(ca, agent)
  return agent
}

/**
 * Sends one request with a JSON body (JSON is YAML, so an apply patch too), and gives back whatever the answer is;
 * throws when nobody answers. The product's own client wants a kubeconfig, tries again and throws for each refusal.
 */
export async function send(
  url: string,
  {
    method = 'GET',
    ca,
    token,
    accept = JSON_TYPE,
    contentType = JSON_TYPE,
    body,
    timeoutMs = 60_000,
  }: Request = {},
): Promise<Reply> {
  const { statusCode, body: answer } = await request(url, {
    method: method as Dispatcher.HttpMethod,
    dispatcher: ca === undefined ? getGlobalDispatcher() : agentFor(ca),
    headers: {
      accept,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': contentType }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: statusCode, text: await answer.text() }
}
