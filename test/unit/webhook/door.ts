import { connect as connectPlainly, type Socket } from 'node:net'
import { connect } from 'node:tls'

/** Where a server listens, and whether it speaks TLS. */
export interface Door {
  readonly port: number
  readonly isPlain?: boolean
}

/** A connection that somebody opens by hand. */
export interface Caller {
  readonly socket: Socket
  /** Everything that came back so far. */
  readonly heard: () => string
  /** Resolves with everything that came back, once the other side has closed. */
  readonly closed: Promise<string>
}

/** Opens a connection to a server on the loopback interface, without looking at its certificate. */
export async function call({ port, isPlain = false }: Door): Promise<Caller> {
  const at = { host: '127.0.0.1', port }
  const socket = isPlain ? connectPlainly(at) : connect({ ...at, rejectUnauthorized: false })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  // Being cut off is an answer too.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  const opened = new Promise((resolve) =>
    socket.once(isPlain ? 'connect' : 'secureConnect', resolve),
  )
  await Promise.race([opened, closed])
  return { socket, heard: () => text, closed }
}

/** Writes bytes, whatever they are, and resolves with what comes back until the other side closes. */
export async function say(door: Door, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const { socket, closed } = await call(door)
  for (const part of parts) socket.write(part)
  return closed
}

/** The status of the first answer in a text; undefined where there is none. */
export const statusIn = (text: string) => {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
  return status === undefined ? undefined : Number(status)
}

/** A request as bytes, after which the connection is to be closed. */
export function requestOf(
  body: string | Buffer,
  {
    start = 'POST /mutate HTTP/1.1',
    headers = {},
  }: { readonly start?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): readonly [head: string, body: string | Buffer] {
  const all = {
    host: 'webhook',
    connection: 'close',
    'content-type': 'application/json',
    ...(headers['transfer-encoding'] === undefined && {
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  return [`${[start, ...lines].join('\r\n')}\r\n\r\n`, body]
}

/** A body cut into chunks, as one that says nothing of its length is sent. */
export const chunked = (body: string) =>
  [...(body.match(/[\s\S]{1,65536}/g) ?? []), '']
    .map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
    .join('')
