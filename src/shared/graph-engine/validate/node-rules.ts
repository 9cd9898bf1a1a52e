import { formatValue } from '../../engine/format-value.ts'
import { holdsInexact, isDeeper } from '../../engine/json/json.ts'
import { isMap, memberOf } from '../../engine/json/object.ts'
import { holdsReservedName, MAX_DEPTH } from '../../engine/json/pointer.ts'
import { kindKeyOf } from '../node.ts'
import { below, problem } from './problem.ts'
import { all, type Check, listOf, mapOf, mapWith, oneOf, text } from './shape.ts'

/** What an id may be: it is a key of status and a name in messages. */
export const NODE_ID = /^[A-Za-z\d](?:[-_.A-Za-z\d]{0,61}[A-Za-z\d])?$/

const id = text(
  NODE_ID,
  'up to 63 letters, digits, "-", "_" and ".", the first and last of them a letter or digit',
)

const GROUP_VERSION =
  /^(?:[a-z\d](?:[-.a-z\d]{0,251}[a-z\d])?\/)?[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?$/
const KIND = /^[A-Z][A-Za-z\d]{0,62}$/
const NAMESPACE = /^[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?$/
// What a path of the API can hold: names of roles have colons.
const NAME = /^(?!\.{1,2}$)[^/%\s]{1,253}$/

/** What the API server, its controllers or garbage collection write; in a desired object it would be stale or wrong. */
const WRITTEN_BY_SERVER = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
]

const metadataRules: Check = (metadata, place) => {
  const written = WRITTEN_BY_SERVER.filter((name) => memberOf(metadata, name) !== undefined)
  const namespace = memberOf(metadata, 'namespace')
  return [
    ...(memberOf(metadata, 'generateName') === undefined
      ? []
      : [
          problem(
            below(place, 'generateName'),
            'is not possible: a node is one object with one name',
          ),
        ]),
    ...written.map((name) =>
      problem(below(place, name), 'is written by the API server: leave it out'),
    ),
    ...(namespace === undefined
      ? []
      : text(NAMESPACE, 'the name of a namespace')(namespace, below(place, 'namespace'))),
  ]
}

const objectRules: Check = (object, place) => {
  if (!isMap(object)) return []
  const { apiVersion, kind, status } = object
  const isSecret =
    typeof apiVersion === 'string' &&
    kind === 'Secret' &&
    kindKeyOf({ apiVersion, kind }) === '/Secret'
  return [
    ...(isSecret
      ? [
          problem(
            below(place, 'kind'),
            'Secret is refused, since graphs can be read by many: refer to an existing Secret by its name',
          ),
        ]
      : []),
    ...(status === undefined
      ? []
      : [problem(below(place, 'status'), 'is written by controllers: leave it out')]),
  ]
}

/** What careless readers of JSON would take otherwise, or not at all. */
const contentRules: Check = (object, place) => {
  if (isDeeper(object, MAX_DEPTH))
    return [problem(place, `has more than ${MAX_DEPTH} levels of nesting`)]
  if (holdsReservedName(object))
    return [problem(place, 'has a field called __proto__, constructor or prototype')]
  return holdsInexact(object)
    ? [problem(place, 'has a number that is too large to be kept exactly')]
    : []
}

const object = all(
  mapWith({
    apiVersion: text(GROUP_VERSION, 'a version such as v1 or apps/v1'),
    kind: text(KIND, 'a kind such as Deployment'),
    metadata: all(mapWith({ name: text(NAME, 'the name of an object') }), metadataRules),
  }),
  objectRules,
  contentRules,
)

const applyPolicy = mapOf({
  optional: {
    mode: oneOf(['Apply', 'Create']),
    conflictPolicy: oneOf(['Error', 'Force']),
    deletionPolicy: oneOf(['Delete', 'Orphan']),
  },
})

const seconds: Check = (value, place) =>
  Number.isSafeInteger(value) && Number(value) >= 0
    ? []
    : [problem(place, `must be a number of seconds, not ${formatValue('', value)}`)]

const predicate: Check = (value, place) => [
  ...mapOf({
    required: { type: oneOf(['ConditionMatch', 'DeploymentAvailable', 'Exists']) },
    optional: {
      conditionType: text(/^[^\s]{1,316}$/, 'the type of a condition'),
      conditionStatus: oneOf(['True', 'False', 'Unknown']),
      timeout: seconds,
    },
  })(value, place),
  ...(memberOf(value, 'type') === 'ConditionMatch'
    ? ['conditionType', 'conditionStatus'].flatMap((name) =>
        memberOf(value, name) === undefined
          ? [problem(below(place, name), 'is required by ConditionMatch')]
          : [],
      )
    : []),
]

/** `DeploymentAvailable` of anything else would never hold. */
const predicatesFit: Check = (node, place) => {
  const predicates = memberOf(node, 'readyWhen')
  const kind = memberOf(memberOf(node, 'object'), 'kind')
  if (!Array.isArray(predicates) || kind === 'Deployment') return []
  return predicates.flatMap((one, index) =>
    memberOf(one, 'type') === 'DeploymentAvailable'
      ? [
          problem(
            below(place, 'readyWhen', index, 'type'),
            'DeploymentAvailable is about Deployments only: use ConditionMatch',
          ),
        ]
      : [],
  )
}

/** The rules of one node, whatever the others are. */
export const nodeRules: Check = all(
  mapOf({
    required: { id, object },
    optional: {
      applyPolicy,
      dependsOn: listOf(text(/^/, 'the id of a node')),
      readyWhen: listOf(predicate),
    },
  }),
  predicatesFit,
)
