import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Finding } from './finding.ts'
import { findInlineScripts } from './inline.ts'
import { type Language, languageOf } from './language.ts'
import { formatPython, lintPython } from './python.ts'
import { lintShell } from './shell.ts'

/** How the command ends, and what it says. */
export interface Verdict {
  readonly status: number
  readonly lines: readonly string[]
}

/** Lints every script below the paths among the arguments, which are relative to a folder. */
export async function lintScripts(args: readonly string[], folder: string): Promise<Verdict> {
  const isWriting = args.includes('--write')
  const paths = args.filter((arg) => arg !== '--write')
  const problem = problemWith(paths, folder)
  if (problem !== undefined)
    return { status: 2, lines: [`lint-scripts: ${problem}: use [--write] PATH...`] }
  let scripts = 0
  const lines: string[] = []
  for (const path of paths.flatMap((path) => filesBelow(path, folder))) {
    const file = { path: join(folder, path), text: readFileSync(join(folder, path), 'utf8') }
    const language = languageOf(path, file.text)
    if (language !== 'none') scripts++
    const found = [...(await lint(file, language, isWriting))].sort(byPlace)
    for (const { line, column, rule, message } of found)
      lines.push(`${path}:${line}:${column}: ${rule} ${message}`)
  }
  if (scripts === 0) lines.push(`lint-scripts: no script in ${paths.join(', ')}`)
  return { status: lines.length > 0 ? 1 : 0, lines }
}

interface File {
  readonly path: string
  readonly text: string
}

function problemWith(paths: readonly string[], folder: string): string | undefined {
  const option = paths.find((path) => path.startsWith('-'))
  if (option !== undefined) return `unknown option ${option}`
  if (paths.length === 0) return 'no path given'
  const missing = paths.find((path) => !existsSync(join(folder, path)))
  return missing === undefined ? undefined : `${missing} does not exist`
}

function filesBelow(path: string, folder: string): readonly string[] {
  const isFile = (file: string) => statSync(join(folder, file)).isFile()
  if (isFile(path)) return [path]
  return readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter(isFile)
    .sort()
}

async function lint(
  file: File,
  language: Language,
  isWriting: boolean,
): Promise<readonly Finding[]> {
  if (language === 'none') return findInlineScripts(file.text)
  if (language === 'shell') return lintShell(file.text)
  if (language === 'python') return [...lintPython(file.text), ...lintLayout(file, isWriting)]
  const message = `no linter for ${language.unknown}: write it in Python or shell`
  return [{ line: 1, column: 1, rule: 'interpreter', message }]
}

function lintLayout({ path, text }: File, isWriting: boolean): readonly Finding[] {
  const wanted = formatPython(text)
  if (wanted === text) return []
  if (isWriting) {
    writeFileSync(path, wanted)
    return []
  }
  const lines = wanted.split('\n')
  const line = text.split('\n').findIndex((found, index) => found !== lines[index]) + 1
  const message = 'is not laid out as it should be: npm run lint:scripts -- --write'
  return [{ line, column: 1, rule: 'format', message }]
}

function byPlace(a: Finding, b: Finding): number {
  return a.line - b.line || a.column - b.column
}
