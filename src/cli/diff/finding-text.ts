import { describeEffect } from '../../reconciler/baseline/report/disruption-text.ts'
import { escapeControls, showValue } from '../../shared/engine/show.ts'
import { type Change, type Finding, headOf } from './finding.ts'

/** What a person reads of a change: a line for the object, and one for each field; none where nothing would change. */
export function changeLines(finding: Finding): readonly string[] {
  if (!('drifts' in finding)) return []
  return [
    `${headOf(finding)}: ${sentenceOn(finding)}`,
    ...finding.drifts.map((drift) => {
      const { pointer, from, to } = shownChange(drift)
      return `  ${escapeControls(pointer)} ${from} → ${to}`
    }),
  ]
}

/** What a person should know of an asset beside the changes; undefined where there is nothing. */
export function remarkOn(finding: Finding): string | undefined {
  const remark = remarkText(finding)
  return remark === undefined ? undefined : `${headOf(finding)}: ${remark}`
}

/** A changed field as it may be shown. */
export function shownChange({ pointer, found, wanted }: Change['drifts'][number]) {
  const shown = (value: unknown) => showValue(pointer, value, VALUE_LIMIT)
  return { pointer, from: shown(found), to: shown(wanted) }
}

const VALUE_LIMIT = 200

const VERBS = { create: 'created', change: 'changed', delete: 'deleted' } as const
const WAITS = { approval: 'waits for approval', pool: 'waits for the pool, which is busy' } as const

/** A change in a few words: that, what it does to nodes, and what it waits for. */
function sentenceOn({ action, disruption, waitsFor }: Change): string {
  const effect = disruption && describeEffect(disruption)
  return [
    `would be ${VERBS[action]}`,
    ...(effect ? [effect] : []),
    ...(waitsFor ? [WAITS[waitsFor]] : []),
  ].join('; ')
}

function remarkText(finding: Finding): string | undefined {
  if (finding.action === 'unknown') return `cannot be compared: ${finding.message}`
  if (finding.action === 'none') return finding.isObstacle ? finding.message : undefined
  const { unconfirmed } = finding
  return unconfirmed && `the API server was not asked whether it agrees: ${unconfirmed}`
}
