import http from 'node:http'
import https from 'node:https'

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

/** Sends one request with a JSON body (JSON is YAML, so an apply patch too); throws when nobody answers. */
export function send(
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
  const { request } = url.startsWith('https:') ? https : http
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    accept,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(payload !== undefined && {
      'content-type': contentType,
      // Of a DELETE, Node says no length of its own accord, and nobody reads the body.
      'content-length': Buffer.byteLength(payload),
    }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers, ...(ca && { ca }), timeout: timeoutMs },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('error', reject)
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      },
    )
    sent.on('timeout', () =>
      sent.destroy(new Error(`${method} ${url}: no answer for ${timeoutMs} ms`)),
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}
