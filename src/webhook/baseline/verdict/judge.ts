import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Knowledge, ManagedObject } from '../knowledge.ts'
import { judgeAnnotations, judgeExcess, optInsOf, type Write } from './judge-annotations.ts'
import { judgeContent } from './judge-content.ts'
import { allow, type JudgeContext, type Verdict } from './verdict.ts'

/** Judges a create or an update of a managed object: the write, not the object. Pure, and in memory only. */
export function judge(write: Write, known: ManagedObject, context: JudgeContext): Verdict {
  const { knowledge } = context
  // What is too much to be looked at is told, and not looked at.
  const excess = judgeExcess(write, known, () => optInsOf(knowledge))
  const managed = excess ? known : knowledge.asAnnotated(known, write.incoming)
  const annotated = excess
    ? { settings: settingsIn(write, known, knowledge), fault: excess, notes: [] }
    : judgeAnnotations(write, managed, knowledge)
  const { settings, fault, notes } = annotated
  const idle = idleness(managed, settings, knowledge)
  if (idle) return allow(idle, [...(fault?.problems ?? []).map(sentenceOf), ...notes])
  return fault
    ? { kind: 'denied', ...fault }
    : judgeContent({ write, known, managed, context: { ...context, settings }, notes })
}

const settingsIn = ({ incoming }: Write, { isHco }: ManagedObject, knowledge: Knowledge) =>
  isHco ? knowledge.readSettings(incoming.metadata.annotations ?? {}).settings : knowledge.settings

// Off denies nothing, and observing reports what would be denied.
const IDLE: Readonly<Record<Settings['activation']['kind'], string | undefined>> = {
  off: 'Off',
  observe: 'Observing',
  all: undefined,
  only: undefined,
}

const idleness = (
  { isHco }: ManagedObject,
  { activation }: Settings,
  { hasHyperConverged }: Knowledge,
) => (isHco || hasHyperConverged ? IDLE[activation.kind] : 'NoHyperConverged')
