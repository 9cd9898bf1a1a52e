import type { IncomingMessage } from 'node:http'
import type { Held } from './intake.ts'
import { readReview } from './read-review.ts'

/** The request cannot be taken in. The way it is told is HTTP's, since it is not read, or not to its end. */
export class Refused extends Error {
  override name = 'Refused' as const
  readonly statusCode: 400 | 413 | 415 | 429

  constructor(statusCode: 400 | 413 | 415 | 429, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** How large a review may be: two objects of 3 MiB, which is what the API server stores at most, and the envelope. */
export const BODY_LIMIT = 7 << 20
/** Up to what size the rest of a refused request is read, so that its connection need not be closed. */
const READ_TO_THE_END = 256 << 10

/** How many bytes a request says that it has; 0 where it does not say. */
export const toldSize = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  Number(headers['content-length'] ?? 0)

/** Whether what is left of a refused request is worth reading: that takes the time of those that are not refused. */
export const isReadToTheEnd = (request: Pick<IncomingMessage, 'headers'>) =>
  request.headers['transfer-encoding'] === undefined && toldSize(request) <= READ_TO_THE_END

/** What is told where there is no room. */
export const overcrowded = () => new Refused(429, 'too much is under way: ask again')

/** Reads a review, and holds what has arrived. Throws Refused where it is too large or breaks off, NotJson where it is none. */
export async function readBody(
  request: IncomingMessage,
  held: Held,
  prefix: string,
): Promise<unknown> {
  if (toldSize(request) > BODY_LIMIT) throw tooLarge()
  return readReview(await readAll(request, held), prefix)
}

// By events: an iterator of chunks costs more than reading JSON does.
function readAll(request: IncomingMessage, held: Held): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let isTaken = true
  return new Promise((resolve, reject) => {
    const settle = (settled: () => void) => {
      request.off('data', take).off('end', end).off('error', breakOff).off('close', breakOff)
      settled()
    }
    // Whoever is refused is to read why: the connection outlives the reading.
    const refuse = (refused: Refused) => {
      request.pause()
      settle(() => reject(refused))
    }
    const breakOff = () => refuse(new Refused(400, 'the request broke off'))
    const end = () =>
      settle(() => (isTaken ? resolve(Buffer.concat(chunks)) : reject(overcrowded())))
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_LIMIT) return refuse(tooLarge())
      isTaken &&= held.take(chunk.length)
      if (isTaken) chunks.push(chunk)
      else if (isReadToTheEnd(request)) chunks.length = 0
      else refuse(overcrowded())
    }
    request.on('data', take).once('end', end).once('error', breakOff).once('close', breakOff)
  })
}

const tooLarge = () => new Refused(413, `a review has ${BODY_LIMIT >> 20} MiB at most`)
