import type { IncomingMessage } from 'node:http'
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
export const noRoom = () => new Refused(429, 'too much is under way: ask again')

/** Reads a review, and holds what has arrived. Throws Refused where it is too large or breaks off, NotJson where it is none. */
export async function readBody(
  request: IncomingMessage,
  reservation: Reservation,
  prefix: string,
): Promise<unknown> {
  if (toldSize(request) > BODY_LIMIT) throw tooLarge()
  return readReview(await readAll(request, reservation), prefix)
}

// By events: an iterator of chunks costs more than reading JSON does.
function readAll(request: IncomingMessage, reservation: Reservation): Promise<Buffer> {
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
    const end = () => settle(() => (isTaken ? resolve(Buffer.concat(chunks)) : reject(noRoom())))
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_LIMIT) return refuse(tooLarge())
      isTaken &&= reservation.take(chunk.length)
      if (isTaken) chunks.push(chunk)
      else if (isReadToTheEnd(request)) chunks.length = 0
      else refuse(noRoom())
    }
    request.on('data', take).once('end', end).once('error', breakOff).once('close', breakOff)
  })
}

const tooLarge = () => new Refused(413, `a review has ${BODY_LIMIT >> 20} MiB at most`)

/** How many bytes of requests may be held at once, and how much of that is for small ones alone. */
export interface BudgetLimits {
  readonly bytes: number
  /** From what size on a request is large. */
  readonly largeFrom: number
  /** What large requests leave to the small ones. */
  readonly keptForSmall: number
}

/** What one request holds of it. */
export interface Reservation {
  /** Takes so many bytes more; false where there is no room for them, and nothing is taken. */
  readonly take: (bytes: number) => boolean
  /** Gives all of it back; nothing is taken after that. */
  readonly release: () => void
}

// The largest request fits three times; nearly all of those that the API server sends are small.
const LIMITS: BudgetLimits = { bytes: 32 << 20, largeFrom: 256 << 10, keptForSmall: 8 << 20 }

/**
 * Bounds the memory that requests take while they come in, by what has arrived: a request that only says that it is
 * large keeps nobody out. Whoever sends more at once is told to come again, so that a flood of large requests never
 * keeps a small one out, nor ends the process.
 */
export class BodyBudget {
  readonly #limits: BudgetLimits
  #held = 0
  #heldByLarge = 0

  constructor(limits: BudgetLimits = LIMITS) {
    this.#limits = limits
  }

  /** Whether a request of so many bytes would fit now, should it arrive at once. Nothing is kept for it. */
  hasRoom(bytes: number): boolean {
    return this.#fits(bytes, bytes >= this.#limits.largeFrom ? bytes : 0)
  }

  /** For a request of which nothing has arrived. */
  reserve(): Reservation {
    let [bytes, asLarge, isOver] = [0, 0, false]
    return {
      take: (more) => {
        // Once it is large, so is what came before.
        const large = bytes + more >= this.#limits.largeFrom ? bytes + more - asLarge : 0
        if (isOver || !this.#fits(more, large)) return false
        this.#hold(more, large)
        bytes += more
        asLarge += large
        return true
      },
      release: () => {
        this.#hold(-bytes, -asLarge)
        ;[bytes, asLarge, isOver] = [0, 0, true]
      },
    }
  }

  #fits(bytes: number, large: number): boolean {
    const { bytes: all, keptForSmall } = this.#limits
    return (
      this.#held + bytes <= all && (large === 0 || this.#heldByLarge + large <= all - keptForSmall)
    )
  }

  #hold(bytes: number, large: number): void {
    this.#held += bytes
    this.#heldByLarge += large
  }
}
