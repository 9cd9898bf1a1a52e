import { approveCommand, describeEffect } from '../../reconciler/baseline/report/disruption-text.ts'
import type { PendingSet } from '../../reconciler/baseline/report/report.ts'
import { namePools } from '../../shared/baseline/facts/pools.ts'
import { escapeControls, formatValue } from '../../shared/engine/format-value.ts'
import { type Change, type Finding, headOf } from './finding.ts'

/** What there is to print of a diff. */
export interface Findings {
  readonly findings: readonly Finding[]
  readonly pending: Pick<PendingSet, 'hco' | 'digest'>
}

/** How `diff` prints, by the name of its `-o`. */
export const FORMATS = { text, json } as const satisfies Readonly<
  Record<string, (found: Findings) => string>
>

/** The changes alone, and how to approve what waits; nothing at all where nothing would change. */
function text({ findings, pending }: Findings): string {
  const approve = approvalOf(pending)
  const lines = [
    ...findings.flatMap(changeLines),
    ...(approve ? [`To approve what waits for it: ${approve.command}`] : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** Every asset, for scripts. */
function json({ findings, pending }: Findings): string {
  const assets = findings.map((finding) => {
    if (!('drifts' in finding)) return finding
    const { drifts, ...rest } = finding
    return { ...rest, changes: drifts.map(shownChange) }
  })
  const approval = approvalOf(pending)
  return `${JSON.stringify({ assets, ...(approval && { approval }) }, undefined, 2)}\n`
}

const approvalOf = ({ hco, digest }: Findings['pending']) =>
  digest === undefined ? undefined : { digest, command: approveCommand(hco, digest) }

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
  const shown = (value: unknown) => formatValue(pointer, value, VALUE_LIMIT)
  return { pointer, from: shown(found), to: shown(wanted) }
}

const VALUE_LIMIT = 200

const VERBS = { create: 'created', change: 'changed', delete: 'deleted' } as const
const WAITS = {
  approval: () => 'waits for approval',
  pool: (busy: readonly string[]) =>
    `waits for ${namePools(busy)}, which ${busy.length > 1 ? 'are' : 'is'} busy`,
} as const

/** A change in a few words: that, what it does to nodes, and what it waits for. */
function sentenceOn({ action, why, disruption, waitsFor, busyPools = [] }: Change): string {
  const effect = disruption && describeEffect(disruption)
  return [
    `would be ${VERBS[action]}${why === undefined ? '' : `: ${why}`}`,
    ...(effect ? [effect] : []),
    ...(waitsFor ? [WAITS[waitsFor](busyPools)] : []),
  ].join('; ')
}

function remarkText(finding: Finding): string | undefined {
  if (finding.action === 'unknown') return `cannot be compared: ${finding.message}`
  if (finding.action === 'none') return finding.isObstacle ? finding.message : undefined
  const { unconfirmed } = finding
  return unconfirmed && `the API server was not asked whether it agrees: ${unconfirmed}`
}
