import { formatValue } from '../../engine/format-value.ts'
import { excessOver } from '../../engine/overrides/override-names.ts'
import { MAX_LENGTH } from '../annotations.ts'

/** What the value of an annotation must be, where any of many values asks for an asset. */
export type AnnotationFormat = keyof typeof ANNOTATION_FORMATS

interface Format {
  /** As people read it after "is annotated …=". */
  readonly placeholder: string
  /** A value that is one. */
  readonly example: string
  /** What is wrong with a value, as a phrase that follows the annotation's key. */
  readonly problemOf: (text: string) => string | undefined
}

const DEVICE = /^[0-9a-f]{4}:[0-9a-f]{4}$/
// A kernel module parameter holds 1,024 characters, which is more than so many devices take.
const MAX_DEVICES = 64
const SECRET = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

function deviceProblem(text: string): string | undefined {
  const excess = excessOver(MAX_LENGTH, text)
  if (excess !== undefined) return excess
  const ids = text.split(',').map((id) => id.trim())
  const wrong = ids.find((id) => !DEVICE.test(id))
  if (wrong !== undefined) {
    return `must be a comma separated list of vendor:product ids, four lower-case hexadecimal digits each, as in 10de:1eb8: ${formatValue('', wrong)} is none`
  }
  if (ids.length > MAX_DEVICES) return `must not name more than ${MAX_DEVICES} devices`
  const seen = new Set<string>()
  const twice = ids.find((id) => seen.size === seen.add(id).size)
  return twice === undefined ? undefined : `must not name ${twice} twice`
}

/** Whether a value is what people write who do not want what the annotation asks for. */
export const isOff = (text: string) => text === '' || text === 'false'

/** The formats, by the name that a condition states. */
export const ANNOTATION_FORMATS = {
  'device-ids': {
    placeholder: '<vendor:product,…>',
    example: '10de:1eb8',
    problemOf: deviceProblem,
  },
  'secret-name': {
    placeholder: '<name of a Secret>',
    example: 'sample-secret',
    problemOf: (text: string) =>
      // Whoever writes true thinks of a switch.
      SECRET.test(text) && text !== 'true'
        ? undefined
        : `must be the name of a Secret (lower case letters, digits, - and .), not ${formatValue('', text)}`,
  },
} as const satisfies Readonly<Record<string, Format>>
