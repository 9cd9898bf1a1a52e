import type { Evaluation } from '../reconciler/baseline/gather/evaluation.ts'
import { warningsOn } from '../reconciler/baseline/report/hco-notes.ts'
import { AUTOPILOT } from '../shared/baseline/annotations.ts'
import type { Catalog } from '../shared/baseline/catalog/catalog.ts'
import { type Activation, standbyReason } from '../shared/baseline/settings/activation.ts'
import { tellHowAlone, tellOther } from '../shared/baseline/settings/other-autopilot.ts'
import { settingNote } from '../shared/baseline/settings/setting-note.ts'
import { annotationOf, titleOf } from '../shared/engine/json/object.ts'

/** What the HyperConverged says that makes the answer another one than people may expect, a sentence each. */
export function notesOn(
  catalog: Catalog,
  evaluation: Pick<Evaluation, 'hco' | 'stated'>,
  waits: readonly string[],
): readonly string[] {
  const { hco, stated } = evaluation
  const { activation } = stated.settings
  const because = standbyReason(activation)
  const isStated = annotationOf(hco, AUTOPILOT) !== undefined
  const note = isStated || activation.kind !== 'observe' ? IDLE[activation.kind] : OBSERVING_BY_FLAG
  const idle = because || note === undefined ? [] : [note]
  const others = because === 'OtherAutopilot' ? [tellOther(hco), tellHowAlone(hco)] : []
  return [
    ...stated.problems.map((problem) => settingNote(problem, stated)),
    ...warningsOn(catalog, evaluation),
    ...waits,
    ...others,
    ...idle,
  ].map((note) => `${titleOf(hco)}: ${note}`)
}

const OBSERVING_BY_FLAG = `the autopilot only observes (the reconciler’s --activation observe): nothing is written until ${AUTOPILOT} says otherwise`
const IDLE: Readonly<Record<Activation['kind'], string | undefined>> = {
  off: `the autopilot is switched off (${AUTOPILOT}): nothing is written until that changes`,
  observe: `the autopilot only observes (${AUTOPILOT}): nothing is written until that changes`,
  all: undefined,
  only: undefined,
}
