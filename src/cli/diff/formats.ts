import { approveCommand } from '../../reconciler/baseline/report/disruption-text.ts'
import type { PendingSet } from '../../reconciler/baseline/report/report.ts'
import type { Finding } from './finding.ts'
import { changeLines, shownChange } from './finding-text.ts'

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
