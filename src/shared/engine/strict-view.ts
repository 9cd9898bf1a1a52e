/** Is told the path of each member that is read, or asked for, of what a template is given. */
export type OnRead = (path: readonly string[]) => void

/** A template reads a value that is not set. */
export class UnsetError extends Error {
  override name = 'UnsetError' as const
  readonly unset: readonly string[]

  constructor(unset: readonly string[]) {
    super(`value ${pathText(unset)} is not set`)
    this.unset = unset
  }
}

/** A view of a JSON value in which reading a member that is not set throws an UnsetError. */
export function strictView(value: unknown, path: readonly string[], onRead?: OnRead): unknown {
  if (typeof value !== 'object' || value === null) return value
  const views = new Map<string, unknown>()
  // A copy, since a proxy must answer for a frozen member with that very member.
  const target = Array.isArray(value) ? [...value] : withoutUndefined(value)
  const tell = (key: string | symbol) => {
    if (typeof key === 'string') onRead?.([...path, key])
  }
  return new Proxy(target, {
    get: (_, key) => {
      if (key === Symbol.toPrimitive) throw new Error(`value ${pathText(path)} is not a scalar`)
      if (typeof key === 'symbol' || isAskedByLanguage(target, key)) return Reflect.get(target, key)
      tell(key)
      const memberPath = [...path, key]
      if (!Object.hasOwn(target, key)) throw new UnsetError(memberPath)
      if (!views.has(key)) views.set(key, strictView(Reflect.get(target, key), memberPath, onRead))
      return views.get(key)
    },
    // Asked by Object.hasOwn, and so by optional().
    getOwnPropertyDescriptor: (_, key) => {
      tell(key)
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
    ownKeys: () => {
      onRead?.([...path, ANY])
      return Reflect.ownKeys(target)
    },
  })
}

/** Stands in a path for every member at once. */
export const ANY = '*'

/** A path as a template writes it: `facts.images["a-b"]`. */
export const pathText = ([root = '', ...members]: readonly string[]) =>
  `${root}${members.map(step).join('')}`

const step = (key: string) => {
  if (/^\d+$/.test(key)) return `[${key}]`
  return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

const withoutUndefined = (value: object) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))

/** List methods and the question of `JSON.stringify` are no values that a template forgot to check. */
const isAskedByLanguage = (target: object, key: string) =>
  key === 'toJSON' || (Array.isArray(target) && key in Array.prototype)

/** The names of all that a template is given. */
export const TEMPLATE_NAMES = [
  'facts',
  'object',
  'pool',
  'enums',
  'fields',
  'sections',
  'file',
  'base64',
  'optional',
  'toYaml',
] as const

/** Names of the language and of Node that would make the output depend on more than the facts: any use of them throws. */
export const FORBIDDEN: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    [
      ...['Date', 'Intl', 'process', 'globalThis', 'global', 'performance', 'crypto', 'Buffer'],
      ...['fetch', 'require', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
    ].map((name) => [name, unusable(name)]),
  ),
  Math: Object.create(Math, { random: { get: () => refuse('Math.random') } }),
}

function unusable(name: string): unknown {
  const refused = () => refuse(name)
  return new Proxy(class {}, { get: refused, has: refused, apply: refused, construct: refused })
}

function refuse(name: string): never {
  throw new Error(
    `${name} is not for templates, whose output depends on ${TEMPLATE_NAMES.join(', ')} alone`,
  )
}
