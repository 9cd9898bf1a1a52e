import { join } from 'node:path'

/** The Go module that most programs are of: what they share is compiled once. */
export const MODULE = join(import.meta.dirname, '../go')

/** A program that is built with Go. */
export interface GoProgram {
  /** Its folder in the module, and its file. */
  readonly name: string
  /** Whether its folder is a module of its own: what it needs decides no version of the others', nor do they of its. */
  readonly isModule?: boolean
  /** What it is called by beside that: it does what its name says. */
  readonly aliases?: readonly string[]
  /** As sentences call it. */
  readonly title: string
  /** How long it takes to build on two cores, where nothing is compiled yet or only the control plane is. */
  readonly takes: string
  /** What to do where it cannot be built. */
  readonly way: string
}

/** The folder of the module that a program is of. */
export const moduleOf = ({ name, isModule }: GoProgram) => (isModule ? join(MODULE, name) : MODULE)
