import { type Target, takeStep } from './act.ts'
import { decide } from './decide/decide.ts'
import type { AssetInput, Final } from './decide/decision.ts'

/** Takes the steps that a decision needs until it is final; the input is then what it was made from. `permit` comes before each dry run. */
export async function decideInSteps(
  gathered: AssetInput,
  target: Target,
  permit: () => void,
): Promise<{ decision: Final; input: AssetInput }> {
  let input = gathered
  let decision = decide(input)
  while (decision.kind !== 'final') {
    if (decision.kind === 'dryRun') permit()
    const found = await takeStep(decision, target)
    input = { ...input, ...found }
    decision = decision.resume?.(found) ?? decide(input)
  }
  return { decision, input }
}
