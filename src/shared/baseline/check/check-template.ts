import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { parsePointer } from '../../engine/json/pointer.ts'
import type { RenderError } from '../../engine/render.ts'
import { ANY, pathText, UnsetError } from '../../engine/strict-view.ts'
import { MANAGED_BY, PREFIX } from '../annotations.ts'
import type { Asset } from '../catalog/catalog.ts'
import { isBinding, isRole } from '../catalog/grants.ts'
import { BASELINE } from '../names.ts'
import { type Sample, samplesFor } from './template-samples.ts'

type Path = readonly string[]

/**
 * What is wrong with the template of an asset, and with what its entry lists for it, found by rendering it for some made-up
 * clusters. Each is a sentence that names the template or the member of the entry.
 */
export function templateMistakes(asset: Asset, text: string, namespace: string): readonly string[] {
  const reads = new Map<string, Path>()
  const onRead = (path: Path) => reads.set(path.join('\n'), path)
  const samples = samplesFor(asset, namespace)
  const mistakes = samples.flatMap((sample) =>
    mistakesOn(asset, sample, onRead).map((mistake) => ({ mistake, when: sample.when })),
  )
  const paths = [...reads.values()]
  return [
    ...[...Map.groupBy(mistakes, ({ mistake }) => mistake)].map(([mistake, [first, ...others]]) =>
      first && others.length + 1 < samples.length ? `${mistake} (rendered ${first.when})` : mistake,
    ),
    ...wrongReads(asset, paths).map((mistake) => `${asset.template}: ${mistake}`),
    ...(mistakes.length === 0 ? unused(asset, paths, text) : []),
  ]
}

function mistakesOn(
  asset: Asset,
  { locals }: Sample,
  onRead: (path: Path) => void,
): readonly string[] {
  const file = (name: string) => {
    onRead(['files', name])
    return asset.file(name)
  }
  try {
    const rendered = asset.render({ ...locals, file }, onRead)
    return rendered.kind === 'object'
      ? objectMistakes(asset, rendered.object).map((mistake) => `${asset.template}: ${mistake}`)
      : []
  } catch (error) {
    const { message, cause } = error as RenderError
    const hint = cause instanceof UnsetError ? hintOn(asset, cause.unset, locals) : undefined
    return [hint === undefined ? message : `${message}: ${hint}`]
  }
}

/** What to do about a value that is not set. */
function hintOn(asset: Asset, path: Path, locals: Sample['locals']): string | undefined {
  const [root = '', , member] = path
  const name = path.at(-1)
  const parent = pathText(path.slice(0, -1))
  if (LISTS.has(root)) return `asset ${asset.name} lists no "${name}" under ${root}: add it there`
  if (parent === 'facts.hco.annotations') return howToRead(asset, parent, 'annotation', name)
  if (parent === 'facts.images') return howToRead(asset, parent, 'image', name)
  if (member === 'spec')
    return `read it with optional(facts.hco.spec, '/…', …), and list a pointer to it under hcoFields`
  if (pathText(path) === 'object.namespace') return 'the object of the asset has no namespace'
  const given = membersAt(locals, path.slice(0, -1))
  return given && `${parent} has only ${given.join(', ')}`
}

const LISTS: ReadonlySet<string> = new Set(['enums', 'fields', 'sections'])

const howToRead = ({ name }: Asset, parent: string, type: string, key: string | undefined) =>
  `read it with optional(${parent}, '/${key}', …), or give asset ${name} the condition { type: ${type}, key: ${key} }`

function membersAt(locals: unknown, path: Path): readonly string[] | undefined {
  let place = locals
  for (const name of path) place = isMap(place) ? place[name] : undefined
  return isMap(place) ? Object.keys(place) : undefined
}

/** What an object holds that it must not, or that is another on another cluster. */
function objectMistakes(asset: Asset, object: KubeObject): readonly string[] {
  const { metadata } = object
  const stated = [...Object.keys(object), ...Object.keys(metadata).map((key) => `metadata.${key}`)]
  const keys = [metadata.labels, metadata.annotations].flatMap((map) => Object.keys(map ?? {}))
  const size = JSON.stringify(object).length
  return [
    ...stated.flatMap((path) => {
      const reason = NOT_FOR_TEMPLATES[path]
      return reason === undefined ? [] : [`${path} ${reason}: leave it out`]
    }),
    ...keys.filter((key) => key.startsWith(PREFIX)).map(ownKeyMistake),
    ...linesOf(object, '').flatMap(({ pointer, line }) =>
      literalsIn(asset, line).map((mistake) => `${pointer}: ${mistake}`),
    ),
    ...(size > MAX_SIZE ? [`its output has ${size} characters, and may have ${MAX_SIZE}`] : []),
  ]
}

const MAX_SIZE = 1024 * 1024

const NOT_FOR_TEMPLATES: Readonly<Record<string, string>> = {
  status: 'is what the controller of the object says',
  'metadata.managedFields': 'is the API server’s own',
  'metadata.finalizers':
    'would hold the object up for ever when it ends: nobody is there to remove it',
  'metadata.ownerReferences': 'would end the object with another: the catalog says when it ends',
}

const ownKeyMistake = (key: string) =>
  key === MANAGED_BY
    ? `every object gets the label ${key}: leave it out`
    : `${key} is for people to say something to the autopilot: leave it out`

interface Line {
  readonly pointer: string
  /** `name: value`, as YAML has it. */
  readonly line: string
}

/** The members of an object at any depth; texts of several lines are files, which may hold anything. */
const linesOf = (container: object, pointer: string): readonly Line[] =>
  Object.entries(container).flatMap(([name, member]) => {
    const at = `${pointer}/${name}`
    if (typeof member === 'object' && member !== null)
      return [{ pointer: at, line: `${name}:` }, ...linesOf(member, at)]
    const text = String(member)
    return text.includes('\n') ? [] : [{ pointer: at, line: `${name}: ${text}` }]
  })

// No sample has any of these: whatever holds one was not printed from what the template is given.
const LITERALS: readonly (readonly [pattern: RegExp, mistake: string])[] = [
  [
    /(?<![\w./-])openshift-cnv(?![\w./-])|\bnamespace: kubevirt-hyperconverged(?![\w.-])/,
    'the namespace of the HyperConverged is written out: print facts.hco.namespace',
  ],
  [
    new RegExp(`\\bnamespace: ${BASELINE.name}(?![\\w.-])`),
    'our own namespace is written out: give the object the namespace $autopilot, and print object.namespace',
  ],
  [
    // A taint is written as an image with a tag is: `node-role.kubernetes.io/infra:NoSchedule`.
    /@sha256:[0-9a-f]{8}|(?<![\w./:-])[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:\/[a-z0-9._-]+)+:(?!(?:Prefer)?No)[A-Za-z0-9_][\w.-]*/,
    'an image is written out: print facts.images[…], and make it a condition, { type: image, key: … }',
  ],
]

const literalsIn = ({ pool }: Asset, line: string): readonly string[] => [
  ...LITERALS.flatMap(([pattern, mistake]) => (pattern.test(line) ? [mistake] : [])),
  ...(pool !== undefined && roleOf(pool).test(line)
    ? [
        `the pool ${pool} is written out: print <%= pool %>, within a longer text <%= \`…/\${pool}\` %>`,
      ]
    : []),
]

/** A node role, a label of a pool, or the role that a MachineConfig is for. */
function roleOf(pool: string): RegExp {
  const name = pool.replaceAll('.', '\\.')
  return new RegExp(
    `(?<![\\w./-])[a-z0-9-]+(?:\\.[a-z0-9-]+)+/(?:${name}(?![\\w./-])|role: ${name}(?![\\w.-]))`,
  )
}

/** Reads of fields of the HyperConverged that are not given, and of what may not decide what a role grants. */
function wrongReads(asset: Asset, reads: readonly Path[]): readonly string[] {
  const listed = asset.hcoFields.map(tokensOf)
  const isGrant = isRole(asset) || isBinding(asset)
  return reads.filter(isLongestAmong(reads)).flatMap((path) => {
    const field = isBeneath(path, HCO_SPEC)
      ? path.slice(HCO_SPEC.length).filter((name) => name !== ANY)
      : []
    if (isGrant && VARYING.has(path[0] ?? '') && !(isBinding(asset) && isEqualPath(path, HCO_NS)))
      return [
        `${pathText(path)} is not the same everywhere, and what is granted must be, since our own roles are made from it: write it out`,
      ]
    return field.length === 0 || listed.some((p) => isRelated(p, field))
      ? []
      : [
          `${pathText(path)} is never given: asset ${asset.name} lists no pointer to it under hcoFields`,
        ]
  })
}

const HCO_SPEC = ['facts', 'hco', 'spec']
const HCO_NS = ['facts', 'hco', 'namespace']
const VARYING: ReadonlySet<string> = new Set(['facts', 'enums', 'fields', 'sections'])

const tokensOf = (pointer: string): Path => {
  const tokens = parsePointer(pointer)
  return tokens.ok ? tokens.value : []
}

const isBeneath = (path: Path, place: Path) => place.every((name, depth) => path[depth] === name)
const isEqualPath = (a: Path, b: Path) => a.length === b.length && isBeneath(a, b)
const isRelated = (a: Path, b: Path) => isBeneath(a, b) || isBeneath(b, a)

/** To get to a member, its parents are read too. */
const isLongestAmong = (reads: readonly Path[]) => (path: Path) =>
  !reads.some((other) => other.length > path.length && isBeneath(other, path))

/** What an entry lists for its template, and the template neither read in any sample nor names anywhere. */
function unused(asset: Asset, reads: readonly Path[], text: string): readonly string[] {
  const isRead = (place: Path) =>
    reads.some((path) => isBeneath(path, place) || isAnyOf(path, place)) ||
    text.includes(place.at(-1) ?? '')
  return listedBy(asset).flatMap(({ member, place, way }) =>
    isRead(place) ? [] : [`/${member} is never read by the template: ${way}, or take it away`],
  )
}

/** Whether all members of what the place is in were read at once. */
const isAnyOf = (path: Path, place: Path) =>
  path.at(-1) === ANY && isBeneath(place, path.slice(0, -1))

interface Listed {
  readonly member: string
  readonly place: Path
  readonly way: string
}

const listedBy = (asset: Asset): readonly Listed[] => [
  ...asset.files.map((name, index) => ({
    member: `files/${index}`,
    place: ['files', name],
    way: `read it with file('${name}')`,
  })),
  ...(['enums', 'fields'] as const).flatMap((list) =>
    Object.keys(asset[list]).map((name) => ({
      member: `${list}/${name}`,
      place: [list, name],
      way: `read it as ${list}.${name}`,
    })),
  ),
  ...asset.sections.map(({ name }, index) => ({
    member: `sections/${index}`,
    place: ['sections', name],
    way: `ask for it with sections['${name}']`,
  })),
  ...asset.hcoFields.map((pointer, index) => ({
    member: `hcoFields/${index}`,
    place: [...HCO_SPEC, ...tokensOf(pointer)],
    way: `read it with optional(facts.hco.spec, '${pointer}', …)`,
  })),
]
