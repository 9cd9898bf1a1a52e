import ejs from 'ejs'
import {
  isAlias,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  stringify,
  visit,
} from 'yaml'
import { isExact } from './json/json.ts'
import { isKubeObject, type KubeObject, mapMembers } from './json/object.ts'
import { parsePointer, valueAt } from './json/pointer.ts'
import { FORBIDDEN, type OnRead, strictView, TEMPLATE_NAMES } from './strict-view.ts'

/** What an asset's template is rendered with, under these names. */
export interface TemplateLocals {
  readonly facts: unknown
  /** The object that the catalog says the template yields. */
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
  }
  /** The MachineConfigPool that the object concerns, if it concerns one. */
  readonly pool: string | undefined
  /** The values that the served schema allows, by field. */
  readonly enums: Readonly<Record<string, readonly string[]>>
  /** Whether the served schema has a field. */
  readonly fields: Readonly<Record<string, boolean>>
  /** Whether a section of the object applies. */
  readonly sections: Readonly<Record<string, boolean>>
  /** The content of a file beside the template; throws for a name that it does not know. */
  readonly file: (name: string) => string
}

/** A compiled template: gives an object, or undefined where its own conditions print nothing. Throws nothing but a `RenderError`. */
export type Template = (locals: TemplateLocals, onRead?: OnRead) => KubeObject | undefined

/** A mistake in a template, or in what it makes of the facts; the message names the file and, where known, the line. */
export class RenderError extends Error {
  override name = 'RenderError' as const
}

/**
 * Compiles an EJS template whose output is one Kubernetes object as strict YAML, and in which it is a
 * mistake to read a value that is not set or to print what is not a scalar.
 */
export function compileTemplate(input: {
  /** The file's name, shown in errors. */
  readonly name: string
  readonly text: string
}): Template {
  const print = compile(input)
  return (locals, onRead) => {
    const object = readObject(input.name, print(locals, onRead))
    return object === undefined ? object : identified(input.name, object, locals.object)
  }
}

function compile({ name, text }: { name: string; text: string }) {
  try {
    const print = ejs.compile(text, {
      filename: name,
      strict: true,
      compileDebug: true,
      escape: printScalar,
      destructuredLocals: LOCALS,
    })
    return (locals: TemplateLocals, onRead?: OnRead) => {
      try {
        return print({ ...FORBIDDEN, ...helpersAnd(locals, onRead) })
      } catch (error) {
        throw located(name, error)
      }
    }
  } catch (error) {
    const [what = ''] = messageOf(error).split(` in ${name} while compiling`)
    throw new RenderError(`${name}: ${what}`, { cause: error })
  }
}

const helpersAnd = ({ pool, file, ...views }: TemplateLocals, onRead: OnRead | undefined) => ({
  ...mapMembers<unknown, unknown>(views, (value, name) => strictView(value, [name], onRead)),
  ...{ pool, file, base64, optional, toYaml, include },
})

/** Hides the library's own, which reads files. */
const include = () => {
  throw new Error('a template includes no other: use file()')
}

const LOCALS = [...TEMPLATE_NAMES, 'include', ...Object.keys(FORBIDDEN)]

/** A JSON string is a YAML scalar too, whatever it contains. */
function printScalar(value: unknown): string {
  const isPrintable =
    typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isPrintable)
    throw new Error(
      `only strings, numbers and booleans can be printed, not ${value === null ? 'null' : typeof value}`,
    )
  return JSON.stringify(value)
}

function base64(text: unknown): string {
  if (typeof text !== 'string') throw new Error('base64() takes a string')
  return Buffer.from(text).toString('base64')
}

/** Reads what may be absent or null, then giving the fallback. */
function optional(value: unknown, pointer: string, fallback: unknown): unknown {
  const tokens = parsePointer(pointer)
  if (!tokens.ok) throw new Error(`optional(): "${pointer}" ${tokens.error}`)
  return valueAt(value, tokens.value) ?? fallback
}

/** Writes a value as block YAML that starts on a line of its own, every line indented. */
function toYaml(value: unknown, indent: number): string {
  if (value === undefined || value === null) throw new Error('toYaml() takes a value')
  const lines = stringify(value, ON_ONE_LINE_EACH).trimEnd().split('\n')
  return lines.map((line) => `\n${' '.repeat(indent)}${line}`).join('')
}

/** Quotes what other readers take for something else, and writes every string on one line. */
const ON_ONE_LINE_EACH = {
  compat: 'yaml-1.1',
  aliasDuplicateObjects: false,
  lineWidth: 0,
  blockQuote: false,
  singleQuote: false,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
} as const

/** The library sets a message on whatever a template throws, or fails with an error of its own. */
const messageOf = (error: unknown) => String((error as Error).message)

/** The library puts the line, and a piece of the template, before the message. */
function located(name: string, error: unknown): RenderError {
  const message = messageOf(error)
  const [, line, what] = /^[^\n]*:(\d+)\n.*?\n\n(.*)$/s.exec(message) ?? []
  const text = line === undefined ? `${name}: ${message}` : `${name}:${line}: ${what}`
  return new RenderError(text, { cause: error })
}

/** Reads one document of strict YAML; undefined where there is none, comments aside. */
function readObject(name: string, text: string): unknown {
  const lineCounter = new LineCounter()
  const at = (offset: number) => `${name}: line ${lineCounter.linePos(offset).line} of its output`
  const [document, second] = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    resolveKnownTags: false,
  })
  if (!document) return undefined
  const [fault] = [...document.errors, ...document.warnings]
  if (fault) throw new RenderError(`${at(fault.pos[0])}: ${fault.message}`, { cause: fault })
  if (second) throw new RenderError(`${at(second.range[0])}: a second document`)
  if (document.directives.yaml.explicit) throw new RenderError(`${name}: a %YAML directive`)
  visit(document, {
    Node: (key, node) => {
      const mistake = mistakeOf(key, node)
      if (mistake !== undefined) throw new RenderError(`${at(Number(node.range?.[0]))}: ${mistake}`)
    },
  })
  return document.toJS()
}

/** Words and numbers that YAML 1.1 reads as booleans and octals, and YAML 1.2 does not, or the reverse. */
const AMBIGUOUS = /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[0-9_]+|0o[0-7]+)$/

function mistakeOf(key: unknown, node: Node): string | undefined {
  if (isAlias(node)) return 'an alias: write the value itself'
  const scalar = isScalar(node) ? node : undefined
  if (scalar?.type === 'PLAIN' && AMBIGUOUS.test(String(scalar.source))) {
    return `${scalar.source} is read differently by other YAML readers: quote it, or write a decimal number`
  }
  if (key === 'key' && typeof scalar?.value !== 'string') return 'a name is a string: quote it'
  return typeof scalar?.value === 'number' && !isExact(scalar.value)
    ? 'a number that JSON cannot hold exactly'
    : undefined
}

/** The same value, once it is sure to be the object that the catalog says. */
function identified(file: string, object: unknown, wanted: TemplateLocals['object']): KubeObject {
  if (!isKubeObject(object)) throw new RenderError(`${file}: its output is not a Kubernetes object`)
  const { apiVersion, kind, metadata } = object
  const made = [apiVersion, kind, metadata.namespace, metadata.name]
  const expected = [wanted.apiVersion, wanted.kind, wanted.namespace, wanted.name]
  if (made.every((part, index) => part === expected[index])) return object
  const [is, should] = [made, expected].map((parts) => parts.filter(Boolean).join(' '))
  throw new RenderError(`${file}: its output is ${is}, but the catalog says ${should}`)
}
