import { type Finding, findingOf, findingsIn, headOf } from '../../src/cli/diff/finding.ts'
import { changeLines, remarkOn } from '../../src/cli/diff/formats.ts'
import { notesOn } from '../../src/cli/notes.ts'
import type { AssetDiff, ClusterDiff } from '../../src/reconciler/baseline/cluster-diff.ts'
import type { Evaluation } from '../../src/reconciler/baseline/gather/evaluation.ts'
import { waitsOn } from '../../src/reconciler/baseline/report/hco-notes.ts'
import type { Reporter } from '../../src/reconciler/baseline/report/report.ts'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../src/shared/baseline/facts/facts.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import type { Print } from './environment.ts'

export interface Preview {
  /** Tells what would change. */
  readonly show: (diff: ClusterDiff) => void
  /** Tells what becomes different of it. */
  readonly reporter: Reporter
}

/** Tells people what would change, in the words of `diff`, and nothing twice. */
export function createPreview(catalog: Catalog, print: Print): Preview {
  const tell = createTeller(print)
  let facts: Pick<Facts, 'pools' | 'heirs'> = { pools: {} }
  const tellFinding = (finding: Finding) => {
    const remark = remarkOn(finding)
    const lines = [...changeLines(finding), ...(remark === undefined ? [] : [remark])]
    tell(`asset/${finding.asset}`, lines, `${headOf(finding)}: nothing to change any more`)
  }
  const tellAsset = (diff: AssetDiff, { metadata }: KubeObject) =>
    tellFinding(findingOf(diff, { hcoNamespace: metadata.namespace ?? '', facts }))
  const tellNotes = (stated: Pick<Evaluation, 'hco' | 'stated'>, waits: readonly string[]) =>
    tell(
      'notes',
      notesOn(catalog, stated, waits),
      'nothing is wrong with the HyperConverged any more',
    )
  const tellUnavailable = (messages: readonly string[]) =>
    tell('snapshot', messages, 'there is a HyperConverged now')
  return {
    show(diff) {
      if (diff.kind === 'unavailable') return tellUnavailable([diff.message])
      facts = diff.evaluation.facts
      tellNotes(diff.evaluation, waitsOn(catalog, diff.evaluation))
      for (const finding of findingsIn(diff)) tellFinding(finding)
    },
    reporter: {
      report: ({ asset, outcome, hco }) => tellAsset({ asset, outcome }, hco),
      failed: (asset, hco, error) => tellAsset({ asset, error }, hco),
      unavailable: (why) => why.reason !== 'NotYet' && tellUnavailable([why.message]),
      settings(hco, stated, _warnings, waits) {
        tellUnavailable([])
        tellNotes({ hco, stated }, waits)
      },
      pending(set) {
        facts = set.facts
      },
      reset: () => undefined,
    },
  }
}

/** Prints what is to be said of a topic where that is something else than before. */
function createTeller(print: Print) {
  const told = new Map<string, string>()
  return (topic: string, lines: readonly string[], otherwise: string) => {
    const before = told.get(topic) ?? ''
    const text = lines.join('\n')
    told.set(topic, text)
    if (text === before) return
    for (const line of lines.length > 0 ? lines : [otherwise]) print(`  ${line}`)
  }
}
