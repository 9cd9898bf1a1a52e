import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Component } from './component.ts'

const RULE = `\n${'-'.repeat(80)}\n`

/** The licences of components in one text, as most of them ask for where their code is passed on. */
export const licenceTexts = (root: string, components: readonly Component[]) =>
  components
    .map(
      (one) => `${one.name} ${one.version} (${one.license})\n\n${textsOf(resolve(root, one.path))}`,
    )
    .join(RULE)

/** The names of the files in a folder that say under which licence it is. */
export const licenceFilesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name))

function textsOf(folder: string): string {
  const names = licenceFilesIn(folder)
  if (names.length > 0)
    return names.map((name) => readFileSync(join(folder, name), 'utf8').trimEnd()).join('\n\n')
  // Somebody who names a licence, and does not repeat it.
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `By ${author?.name ?? author}. The package has no text of the licence.`
}
