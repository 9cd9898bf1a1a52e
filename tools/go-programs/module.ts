import { join } from 'node:path'

/** The one Go module of the repository: what its programs share is compiled once. */
export const MODULE = join(import.meta.dirname, '../go')

/** A program of the module. */
export interface GoProgram {
  /** Its folder in the module, and its file. */
  readonly name: string
  /** What it is called by beside that: it does what its name says. */
  readonly aliases?: readonly string[]
  /** As sentences call it. */
  readonly title: string
  /** How long it takes to build on two cores, where nothing is compiled yet or only the control plane is. */
  readonly takes: string
  /** What to do where it cannot be built. */
  readonly way: string
}
