import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './bundled-packages.ts'

const RULE = `\n${'-'.repeat(80)}\n`

/** The licences of packages in one text, as most of them ask for where their code is passed on. */
export const licenceTexts = (root: string, packages: readonly BundledPackage[]) =>
  packages
    .map((one) => `${one.name} ${one.version} (${one.license})\n\n${textsOf(join(root, one.path))}`)
    .join(RULE)

function textsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name))
  if (names.length > 0)
    return names.map((name) => readFileSync(join(folder, name), 'utf8').trimEnd()).join('\n\n')
  // Somebody who names a licence, and does not repeat it.
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `By ${author?.name ?? author}. The package has no text of the licence.`
}
