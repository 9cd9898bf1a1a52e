import type { KubeObject } from '../../engine/json/object.ts'
import type { TemplateLocals } from '../../engine/render.ts'
import { FIELD_MANAGER, MANAGED_BY } from '../annotations.ts'
import { answerKey, type Facts } from '../facts/facts.ts'
import type { Asset } from './catalog.ts'
import { isInForce } from './sections.ts'

/** The object that the asset's template makes of the facts, with our label; undefined where it makes none. Throws a RenderError. */
export function renderBaseline(
  asset: Asset,
  object: TemplateLocals['object'],
  facts: Facts,
): KubeObject | undefined {
  const { hco, hardware, topology, images } = facts
  const rendered = asset.render({
    // What would make an asset depend on counts, or on what it has not asked for, is not shown.
    facts: { hco, hardware, topology, images },
    object,
    pool: asset.pool,
    enums: answers(asset, asset.enums, facts.enums),
    fields: answers(asset, asset.fields, facts.fields),
    sections: Object.fromEntries(
      asset.sections.map((section) => [section.name, isInForce(asset, section, facts)]),
    ),
    file: asset.file,
  })
  if (!rendered) return undefined
  const { metadata } = rendered
  const labels = { ...metadata.labels, [MANAGED_BY]: FIELD_MANAGER }
  return { ...rendered, metadata: { ...metadata, labels } }
}

/** What the facts answer to the asset's questions about its own kind, by its own names for them. */
const answers = <Answer>(
  { object }: Asset,
  pointers: Readonly<Record<string, string>>,
  known: Readonly<Record<string, Answer>>,
): Readonly<Record<string, Answer>> =>
  Object.fromEntries(
    Object.entries(pointers).flatMap(([name, pointer]) => {
      const answer = known[answerKey(object, pointer)]
      return answer === undefined ? [] : [[name, answer] as const]
    }),
  )
