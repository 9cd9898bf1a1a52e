import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { fileOf } from '../control-plane/definitions.ts'
import { derive, type Originals } from './derive.ts'
import { type Lock, type Published, sourceOf } from './lock.ts'

/** What became of the file of a definition; a failure leaves it as it was. */
export type Outcome =
  | { readonly kind: 'current' | 'written' | 'differs' }
  | { readonly kind: 'failed'; readonly why: string }

/** Where the files are, and whether they are only to be compared. */
export interface Renewal {
  readonly lock: Lock
  readonly folder: string
  readonly verify: boolean
  readonly originals: Originals
}

/** Brings the file of one definition to what is derived, or compares it. */
export async function renew(
  definition: Published,
  { lock, folder, verify, originals }: Renewal,
): Promise<Outcome> {
  let text: string
  try {
    text = await derive(definition, sourceOf(lock, definition), originals)
  } catch (error) {
    return { kind: 'failed', why: (error as Error).message }
  }
  const file = join(folder, fileOf(definition))
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return { kind: 'current' }
  if (verify) return { kind: 'differs' }
  writeWhole(file, text)
  return { kind: 'written' }
}

// Whoever reads the file meanwhile, or comes after a crash, finds all of the old one or all of the new one.
function writeWhole(file: string, text: string): void {
  const beside = `${file}.${process.pid}.new`
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(beside, text)
    renameSync(beside, file)
  } finally {
    rmSync(beside, { force: true })
  }
}
