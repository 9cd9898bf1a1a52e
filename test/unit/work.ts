import { Session } from 'node:inspector'

/** What a task did: counted, not timed, so that neither a slow machine nor a busy one changes it. */
export interface Work {
  /** How often blocks of JavaScript ran, ours and the libraries', but for those that look at single characters. */
  readonly steps: number
  /** How often those of the scanner ran, which are much shorter. */
  readonly scanned: number
  /** How many characters, items or members built-in functions went through: what they do is no JavaScript. */
  readonly walked: number
}

const session = new Session()
session.connect()

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly count: number }[]
    }[]
  }[]
}

function post<Result>(method: string, parameters: object = {}): Result {
  let answer: Result | undefined
  session.post(method, parameters, (error: Error | null, result?: object) => {
    if (error) throw error
    answer = result as Result
  })
  return answer as Result
}

// Counters are compiled into a function when it first runs: this module is to be imported before what it counts.
post('Profiler.enable')
post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

// Whoever makes an error has its stack captured, which takes 13 µs.
const IS_ERROR = /^[A-Z]\w*Error$/
const STEPS_OF_ERROR = 400

function takeSteps(): Pick<Work, 'steps' | 'scanned'> {
  const { result } = post<Coverage>('Profiler.takePreciseCoverage')
  let [steps, scanned] = [0, 0]
  for (const { url, functions } of result) {
    if (!url.startsWith('file:') || url.includes('/test/')) continue
    const counts = functions.flatMap(({ functionName, ranges }) =>
      ranges.map(({ count }) => (IS_ERROR.test(functionName) ? STEPS_OF_ERROR * count : count)),
    )
    const sum = counts.reduce((all, count) => all + count, 0)
    if (url.endsWith('/json-scan.ts')) scanned += sum
    else steps += sum
  }
  return { steps, scanned }
}

const keysOf = Object.keys

/** How much there is to go through in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? keysOf(value).length : 0
}

type Native = (...args: readonly unknown[]) => unknown
type Length = (self: unknown, args: readonly unknown[], result: unknown) => number

/** A search goes from where it is told to as far as what it finds. */
const ofSearch: Length = (self, [, from = 0], found) => {
  const end = typeof found === 'number' && found >= 0 ? found : lengthOf(self)
  return Math.max(0, end - Number(from))
}
const ofSelf: Length = (self) => lengthOf(self)
const ofFirst: Length = (_self, [first]) => lengthOf(first)
const ofResult: Length = (_self, _args, result) => lengthOf(result)

/** The built-in functions whose time grows with what they are given, and by what. */
const NATIVES: readonly (readonly [holder: object, names: string, length: Length])[] = [
  [
    String.prototype,
    'split replace replaceAll match matchAll search lastIndexOf includes trim normalize toLowerCase',
    ofSelf,
  ],
  [String.prototype, 'indexOf', ofSearch],
  [Array.prototype, 'indexOf', ofSearch],
  [
    Array.prototype,
    'lastIndexOf includes join concat slice splice sort toSorted reverse toReversed flat shift unshift',
    ofSelf,
  ],
  [RegExp.prototype, 'test', ofFirst],
  [Object, 'keys values entries assign', ofFirst],
  [Object, 'fromEntries', ofResult],
  [Array, 'from', ofResult],
  [JSON, 'parse', ofFirst],
  [JSON, 'stringify', ofResult],
  [Buffer, 'from byteLength', ofFirst],
]

// What each takes at most where this was measured: 2 cores of an AMD EPYC, Node 24. Cold code takes longer, for a while.
const NS = { steps: 30, scanned: 1.5, walked: 2 }

/** About how many milliseconds so much work is, on a machine like the one that it was measured on. */
export const msOf = ({ steps, scanned, walked }: Work): number =>
  (NS.steps * steps + NS.scanned * scanned + NS.walked * walked) / 1e6

/** Counts the work of a task; what it throws, it throws. */
export function workOf(task: () => unknown): Work {
  let walked = 0
  const originals = NATIVES.flatMap(([holder, names, length]) =>
    names.split(' ').map((name) => {
      const native = Reflect.get(holder, name) as Native
      const counted = function (this: unknown, ...args: readonly unknown[]) {
        const result = Reflect.apply(native, this, args)
        walked += length(this, args, result)
        return result
      }
      return { holder, name, native, counted }
    }),
  )
  const put = (holder: object, name: string, value: Native) =>
    Object.defineProperty(holder, name, { value, configurable: true, writable: true })
  takeSteps()
  for (const { holder, name, counted } of originals) put(holder, name, counted)
  try {
    task()
  } finally {
    for (const { holder, name, native } of originals) put(holder, name, native)
  }
  return { ...takeSteps(), walked }
}
