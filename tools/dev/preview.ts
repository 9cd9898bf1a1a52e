import { type Finding, findingOf, findingsIn, headOf } from '../../src/cli/diff/finding.ts'
import { changeLines, remarkOn } from '../../src/cli/diff/formats.ts'
import { notesOn } from '../../src/cli/notes.ts'
import type { Outlook } from '../../src/reconciler/baseline/gather/outlook.ts'
import { waitsOn } from '../../src/reconciler/baseline/report/remarks.ts'
import type { Reporter } from '../../src/reconciler/baseline/report/report.ts'
import type { Sighting, Survey } from '../../src/reconciler/baseline/survey.ts'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../src/shared/baseline/facts/facts.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import type { Print } from './environment.ts'

export interface Preview {
  /** Tells what a survey says. */
  readonly show: (survey: Survey) => void
  /** Tells what becomes different of it. */
  readonly reporter: Reporter
}

/** Tells people what would change, in the words of `diff`, and nothing twice. */
export function createPreview(catalog: Catalog, print: Print): Preview {
  const tell = createTeller(print)
  let pools: Facts['pools'] = {}
  const tellFinding = (finding: Finding) => {
    const remark = remarkOn(finding)
    const lines = [...changeLines(finding), ...(remark === undefined ? [] : [remark])]
    tell(`asset/${finding.asset}`, lines, `${headOf(finding)}: nothing to change any more`)
  }
  const tellSighting = (sighting: Sighting, { metadata }: KubeObject) =>
    tellFinding(findingOf(sighting, { hcoNamespace: metadata.namespace ?? '', pools }))
  const tellNotes = (stated: Pick<Outlook, 'hco' | 'stated'>, waits: readonly string[]) =>
    tell(
      'notes',
      notesOn(catalog, stated, waits),
      'nothing is wrong with the HyperConverged any more',
    )
  const tellSight = (messages: readonly string[]) =>
    tell('sight', messages, 'there is a HyperConverged now')
  return {
    show(survey) {
      if (survey.kind === 'blind') return tellSight([survey.message])
      pools = survey.outlook.facts.pools
      tellNotes(survey.outlook, waitsOn(catalog, survey.outlook))
      for (const finding of findingsIn(survey)) tellFinding(finding)
    },
    reporter: {
      report: ({ asset, outcome, hco }) => tellSighting({ asset, outcome }, hco),
      failed: (asset, hco, error) => tellSighting({ asset, error }, hco),
      blind: (blind) => blind.reason !== 'NotYet' && tellSight([blind.message]),
      settings(hco, stated, _remarks, waits) {
        tellSight([])
        tellNotes({ hco, stated }, waits)
      },
      pending({ facts }) {
        pools = facts.pools
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
