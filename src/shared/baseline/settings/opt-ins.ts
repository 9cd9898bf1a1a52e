import { formatValue } from '../../engine/format-value.ts'
import type { Problem } from '../../engine/problem.ts'
import { PREFIX } from '../annotations.ts'
import { ANNOTATION_FORMATS, type AnnotationFormat, isOff } from '../catalog/annotation-formats.ts'
import { type Catalog, conditionsOf } from '../catalog/catalog.ts'
import type { Annotations } from './settings.ts'

/** What an annotation must say to ask for an asset or a section: one of some values, or anything of a format. */
export interface OptIn {
  readonly values: readonly string[]
  readonly formats: readonly AnnotationFormat[]
}

/** The annotations by which the catalog's assets and their sections are asked for. */
export function optIns(catalog: Catalog): ReadonlyMap<string, OptIn> {
  const stated = catalog
    .flatMap(conditionsOf)
    .flatMap((condition) => (condition.type === 'annotation' ? [condition] : []))
  return new Map(
    [...Map.groupBy(stated, ({ key }) => key)].map(([key, conditions]) => [
      `${PREFIX}${key}`,
      {
        values: unique(
          conditions.flatMap(({ value, format }) => (format ? [] : [value ?? 'true'])),
        ),
        formats: unique(conditions.flatMap(({ format }) => format ?? [])),
      },
    ]),
  )
}

const unique = <T>(items: readonly T[]): readonly T[] => [...new Set(items)]

/** A note for each annotation that would ask for an asset and has a value that asks for nothing. */
export function emptyOptIns(catalog: Catalog, annotations: Annotations) {
  return [...optIns(catalog)].flatMap(([key, { values, formats }]) => {
    const value = annotations[key]
    const isSilent = value === undefined || isOff(value) || values.includes(value)
    if (isSilent || formats.length > 0) return []
    const wanted = values.map((text) => `"${text}"`).join(' or ')
    return [
      {
        key,
        note: `${key} means something only as ${wanted}: as ${formatValue('', value)} it asks for nothing`,
      },
    ]
  })
}

/** What is wrong with annotations that ask for an asset by a value of some format. */
export function optInProblems(catalog: Catalog, annotations: Annotations): readonly Problem[] {
  return [...optIns(catalog)].flatMap(([key, { formats }]) => {
    const value = annotations[key]
    if (value === undefined || isOff(value)) return []
    return formats.flatMap((format) => {
      const message = ANNOTATION_FORMATS[format].problemOf(value)
      return message === undefined
        ? []
        : [{ reason: 'InvalidSetting' as const, annotation: key, message }]
    })
  })
}
