import type { Outlook } from '../reconciler/outlook.ts'
import { remarksOn } from '../reconciler/remarks.ts'
import { type Activation, standbyReason } from '../shared/catalog/activation.ts'
import type { Catalog } from '../shared/catalog/catalog.ts'
import { tellHowAlone, tellOther } from '../shared/catalog/other-autopilot.ts'
import { settingNote } from '../shared/catalog/setting-note.ts'
import { AUTOPILOT } from '../shared/engine/annotations.ts'
import { titleOf } from '../shared/engine/object.ts'

/** What the HyperConverged says that makes the answer another one than people may expect, a sentence each. */
export function notesOn(
  catalog: Catalog,
  outlook: Pick<Outlook, 'hco' | 'stated'>,
  waits: readonly string[],
): readonly string[] {
  const { hco, stated } = outlook
  const { activation } = stated.settings
  const because = standbyReason(activation)
  const idle = because ? [] : [IDLE[activation.kind]].filter((note) => note !== undefined)
  const others = because === 'OtherAutopilot' ? [tellOther(hco), tellHowAlone(hco)] : []
  return [
    ...stated.problems.map((problem) => settingNote(problem, stated)),
    ...remarksOn(catalog, outlook),
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
