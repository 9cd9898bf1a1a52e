import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { parsePointer } from '../../engine/json/pointer.ts'
import type { RenderError } from '../../engine/render.ts'
import { ANY, pathText, UnsetError } from '../../engine/strict-view.ts'
import { MANAGED_BY, PREFIX } from '../annotations.ts'
import type { Asset } from '../catalog/catalog.ts'
import { type Sample, samplesFor } from './template-samples.ts'

type Path = readonly string[]

/** What is wrong with the template of an asset, found by rendering it for made-up clusters; sentences that name the template. */
export function templateMistakes(asset: Asset, namespace: string): readonly string[] {
  const reads = new Map<string, Path>()
  const onRead = (path: Path) => reads.set(path.join('\n'), path)
  const samples = samplesFor(asset, namespace)
  const mistakes = samples.flatMap((sample) =>
    mistakesOn(asset, sample, onRead).map((mistake) => ({ mistake, when: sample.when })),
  )
  return [
    ...[...Map.groupBy(mistakes, ({ mistake }) => mistake)].map(([mistake, [first, ...others]]) =>
      first && others.length + 1 < samples.length ? `${mistake} (rendered ${first.when})` : mistake,
    ),
    ...wrongReads(asset, [...reads.values()]).map((mistake) => `${asset.template}: ${mistake}`),
  ]
}

function mistakesOn(
  asset: Asset,
  { locals }: Sample,
  onRead: (path: Path) => void,
): readonly string[] {
  try {
    const object = asset.render({ ...locals, file: asset.file }, onRead)
    return object ? objectMistakes(object).map((mistake) => `${asset.template}: ${mistake}`) : []
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

/** What an object holds that is not for a template to say. */
function objectMistakes(object: KubeObject): readonly string[] {
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

/** Reads of fields of the HyperConverged that are never given: a fallback would take their place everywhere. */
function wrongReads(asset: Asset, reads: readonly Path[]): readonly string[] {
  const listed = asset.hcoFields.map(tokensOf)
  return reads
    .filter((path) => isBeneath(path, HCO_SPEC) && isLongestAmong(reads)(path))
    .flatMap((path) => {
      const field = path.slice(HCO_SPEC.length).filter((name) => name !== ANY)
      const isGiven = listed.some((one) => isBeneath(one, field) || isBeneath(field, one))
      return field.length === 0 || isGiven
        ? []
        : [
            `${pathText(path)} is never given: asset ${asset.name} lists no pointer to it under hcoFields`,
          ]
    })
}

const HCO_SPEC = ['facts', 'hco', 'spec']

const tokensOf = (pointer: string): Path => {
  const tokens = parsePointer(pointer)
  return tokens.ok ? tokens.value : []
}

const isBeneath = (path: Path, place: Path) => place.every((name, depth) => path[depth] === name)

/** To get to a member, its parents are read too. */
const isLongestAmong = (reads: readonly Path[]) => (path: Path) =>
  !reads.some((other) => other.length > path.length && isBeneath(other, path))
