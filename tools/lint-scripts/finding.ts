/** Something wrong in a file, and where: line and column count from 1. */
export interface Finding {
  readonly line: number
  readonly column: number
  /** The rule, by the name that its linter has for it. */
  readonly rule: string
  readonly message: string
}
