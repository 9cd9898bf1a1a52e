import type { IncomingMessage } from 'node:http'
import { readReview } from './read-review.ts'
import { Refused } from './review.ts'

/** How large a review may be: two objects of 3 MiB, which is what the API server stores at most, and the envelope. */
const BODY_LIMIT = 7 << 20
/** Up to what size the rest of a refused request is read, so that its connection need not be closed. */
const READ_TO_THE_END = 256 << 10

/** How many bytes a request says that it has; 0 where it does not say. */
const toldSize = ({ headers }: IncomingMessage) => Number(headers['content-length'] ?? 0)

/** Whether what is left of a refused request is worth reading: that takes the time of those that are not refused. */
const isReadToTheEnd = (request: IncomingMessage) =>
  request.headers['transfer-encoding'] === undefined && toldSize(request) <= READ_TO_THE_END

/** Whether nothing of a refused request was read, and nothing will be: its connection is to be closed. */
export const isLeftUnread = (request: IncomingMessage) =>
  !request.readableDidRead && !isReadToTheEnd(request)

const noRoom = () => new Refused(429, 'too much is under way: ask again')
const tooLarge = () => new Refused(413, `a review has ${BODY_LIMIT >> 20} MiB at most`)

/** Reads a review; what has arrived of it is held in the budget meanwhile. Throws Refused for what cannot be taken in. */
export async function readBody(
  request: IncomingMessage,
  budget: BodyBudget,
  prefix: string,
): Promise<unknown> {
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Refused(415, 'send the review as it is: no content encoding is read')
  if (!budget.hasRoom(Math.min(toldSize(request), BODY_LIMIT))) throw noRoom()
  if (toldSize(request) > BODY_LIMIT) throw tooLarge()
  const reservation = budget.reserve()
  try {
    return readReview(await readAll(request, reservation), prefix)
  } finally {
    reservation.release()
  }
}

// By events: an iterator of chunks costs more than reading JSON does.
function readAll(request: IncomingMessage, reservation: Reservation): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let isTaken = true
  return new Promise((resolve, reject) => {
    // Whoever is refused is to read why: the connection outlives the reading.
    const refuse = (refused: Refused) => {
      request.pause()
      reject(refused)
    }
    const breakOff = () => request.complete || refuse(new Refused(400, 'the request broke off'))
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_LIMIT) return refuse(tooLarge())
      isTaken &&= reservation.take(chunk.length)
      if (isTaken) chunks.push(chunk)
      else if (isReadToTheEnd(request)) chunks.length = 0
      else refuse(noRoom())
    }
    const end = () => (isTaken ? resolve(Buffer.concat(chunks)) : reject(noRoom()))
    request.on('data', take).once('end', end).once('error', breakOff).once('close', breakOff)
  })
}

/** How many bytes of requests may be held at once, and how much of that is for small ones alone. */
export interface BudgetLimits {
  readonly bytes: number
  /** From what size on a request is large. */
  readonly largeFrom: number
  /** What large requests leave to the small ones. */
  readonly keptForSmall: number
}

/** What one request holds of it. */
interface Reservation {
  /** Takes so many bytes more; false where there is no room for them, and nothing is taken. */
  readonly take: (bytes: number) => boolean
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
    let [bytes, asLarge] = [0, 0]
    const hold = (more: number, large: number) => {
      bytes += more
      asLarge += large
      this.#held += more
      this.#heldByLarge += large
    }
    return {
      take: (more) => {
        // Once it is large, so is what came before.
        const large = bytes + more >= this.#limits.largeFrom ? bytes + more - asLarge : 0
        const isTaken = this.#fits(more, large)
        if (isTaken) hold(more, large)
        return isTaken
      },
      release: () => hold(-bytes, -asLarge),
    }
  }

  #fits(bytes: number, large: number): boolean {
    const { bytes: all, keptForSmall } = this.#limits
    return (
      this.#held + bytes <= all && (large === 0 || this.#heldByLarge + large <= all - keptForSmall)
    )
  }
}
