import { formatValue } from '../../engine/format-value.ts'
import { type Problem, sentenceOf } from '../../engine/problem.ts'
import { AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES } from '../annotations.ts'
import type { KnownSettings } from './settings.ts'

/** What is wrong with a setting, and what follows from it. */
export function settingNote(problem: Problem, { valid, neverValid }: KnownSettings): string {
  const key = problem.annotation
  const last = valid[key]
  const follows = neverValid.includes(key)
    ? (CAUTIOUSLY[key] ?? 'it counts as absent until it is mended')
    : last === undefined
      ? 'it counts as absent, as before'
      : `the last valid value stays in force: ${formatValue('', last)}`
  return `${sentenceOf(problem)}; ${follows}`
}

const NOTHING_DONE = 'nothing is written or corrected until it is mended'
const CAUTIOUSLY: Readonly<Record<string, string>> = {
  [AUTOPILOT]: NOTHING_DONE,
  [DISABLED_RESOURCES]: NOTHING_DONE,
  [DISRUPTIVE_CHANGES]: 'changes that reboot nodes wait for approval until it is mended',
}
