import { answerKey, type Facts } from '../facts/facts.ts'
import { type Asset, type Catalog, conditionsOf, kindKey } from './catalog.ts'

/** Something that the catalog wants to know of the served schema of a kind. */
export interface SchemaQuestion {
  readonly group: string
  readonly kind: string
  /** Versions that would do, the best first; any, if absent. */
  readonly versions: readonly string[] | undefined
  /** JSON pointer to a field of the object. */
  readonly pointer: string
  /** Whether the enum of the field is asked for, or just whether there is such a field. */
  readonly about: 'enum' | 'field'
}

/** All that the catalog's templates and conditions want to know of schemas. */
export const schemaQuestions = (catalog: Catalog): readonly SchemaQuestion[] =>
  catalog.flatMap(questionsOf)

const questionsOf = (asset: Asset) => [...ownQuestions(asset), ...conditionQuestions(asset)]

/** Whether the asset asks of a schema that is not known although its kind is served: the server publishes it later. */
export const isUnanswered = (asset: Asset, { served, enums, fields }: Facts) =>
  questionsOf(asset).some((question) => {
    const key = answerKey(question, question.pointer)
    const isServed = (served[kindKey(question)] ?? []).length > 0
    return isServed && !(key in (question.about === 'enum' ? enums : fields))
  })

function ownQuestions({ object, enums, fields }: Asset): readonly SchemaQuestion[] {
  const { group, kind, versions } = object
  const ask = (about: SchemaQuestion['about']) => (pointer: string) => ({
    ...{ group, kind, versions, pointer, about },
  })
  return [...Object.values(enums).map(ask('enum')), ...Object.values(fields).map(ask('field'))]
}

const conditionQuestions = (asset: Asset): readonly SchemaQuestion[] =>
  conditionsOf(asset).flatMap((condition) => {
    if (condition.type !== 'crd' || !condition.offers) return []
    const { group, kind, versions, offers } = condition
    const about = offers.anyOf ? 'enum' : 'field'
    return [{ group, kind, versions, pointer: offers.field, about }]
  })
