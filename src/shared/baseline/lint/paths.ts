import { parsePointer } from '../../engine/json/pointer.ts'
import { showValue } from '../../engine/show.ts'

/** A part of a path: its name, or how the name begins where only rendering tells the rest. */
export interface Step {
  readonly text: string
  readonly isWhole: boolean
}

/** A path that begins at a name. */
export interface Path {
  readonly root: string
  readonly steps: readonly Step[]
}

/** The path as a template has it. */
export const showPath = ({ root, steps }: Path) =>
  `${root}${steps.map(({ text }) => (IDENTIFIER.test(text) ? `.${text}` : `[${showValue('', text)}]`)).join('')}`

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** Whether the steps may lead to the place, to something within it, or to what it is in. */
export function mayTouch(steps: readonly Step[], place: readonly string[]): boolean {
  for (const [index, name] of place.entries()) {
    const step = steps[index]
    if (!step) return true
    if (!step.isWhole) return name.startsWith(step.text)
    if (step.text !== name) return false
  }
  return true
}

/** The names that a pointer is made of; none for what is no pointer. */
export function tokensOf(pointer: string): readonly string[] {
  const tokens = parsePointer(pointer)
  return tokens.ok ? tokens.value : []
}
