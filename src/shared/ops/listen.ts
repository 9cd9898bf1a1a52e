/** An address to listen on; port 0 takes a free one. */
export interface Listen {
  readonly host: string
  readonly port: number
}

/** Reads `:9443`, `127.0.0.1:8081` or `[::1]:8081`; throws a sentence for anything else. */
export function parseListen(text: string): Listen {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw new Error(`"${text}" is no address to listen on: write HOST:PORT or :PORT`)
  }
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port }
}

/** Puts a failure to listen into one line that names the address and the flag. */
export function listenError(error: unknown, { host, port }: Listen, flag: string): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = REASONS[code ?? ''] ?? message
  return new Error(`cannot listen on ${host}:${port}: ${reason}; choose another with ${flag}`, {
    cause: error,
  })
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process uses it',
  EACCES: 'the user may not open it',
}
