import type { Evaluation } from '../reconciler/baseline/gather/evaluation.ts'
import { warningsOn } from '../reconciler/baseline/report/hco-notes.ts'
import type { Catalog } from '../shared/baseline/catalog/catalog.ts'
import { type Activation, standbyReason } from '../shared/baseline/settings/activation.ts'
import { tellHowAlone, tellOther } from '../shared/baseline/settings/other-autopilot.ts'
import { settingNote } from '../shared/baseline/settings/setting-note.ts'
import { titleOf } from '../shared/engine/json/object.ts'
import { AUTOPILOT } from '../shared/engine/overrides/annotations.ts'

/** What the HyperConverged says that makes the answer another one than people may expect, a sentence each. */
export function notesOn(
  catalog: Catalog,
  evaluation: Pick<Evaluation, 'hco' | 'stated'>,
  waits: readonly string[],
): readonly string[] {
  const { hco, stated } = evaluation
  const { activation } = stated.settings
  const because = standbyReason(activation)
  const idle = because ? [] : [IDLE[activation.kind]].filter((note) => note !== undefined)
  const others = because === 'OtherAutopilot' ? [tellOther(hco), tellHowAlone(hco)] : []
  return [
    ...stated.problems.map((problem) => settingNote(problem, stated)),
    ...warningsOn(catalog, evaluation),
    ...waits,
    ...others,
    ...idle,
  ].map((note) => `${titleOf(hco)}: ${note}`)
}

const IDLE: Readonly<Record<Activation['kind'], string | undefined>> = {
  off: `the autopilot is switched off (${AUTOPILOT}): nothing is written until that changes`,
  observe: `the autopilot only observes (${AUTOPILOT}): nothing is written until that changes`,
  all: undefined,
  only: undefined,
}
