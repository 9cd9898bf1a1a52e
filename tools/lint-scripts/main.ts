// Lints every script below the given paths, whatever it is called. `--write` lays Python out as it should be.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Finding } from './finding.ts'
import { findInlineScripts } from './inline.ts'
import { type Language, languageOf } from './language.ts'
import { formatPython, lintPython } from './python.ts'
import { lintShell } from './shell.ts'

const args = process.argv.slice(2)
const isWriting = args.includes('--write')
const paths = args.filter((arg) => arg !== '--write')
const problem = problemWith(paths)
if (problem !== undefined) {
  console.error(`lint-scripts: ${problem}: use [--write] PATH...`)
  process.exit(2)
}

let scripts = 0
let findings = 0
for (const path of paths.flatMap(filesBelow)) {
  const text = readFileSync(path, 'utf8')
  const language = languageOf(path, text)
  if (language !== 'none') scripts++
  const found = [...(await lint(path, text, language))].sort(byPlace)
  for (const { line, column, rule, message } of found)
    console.error(`${path}:${line}:${column}: ${rule} ${message}`)
  findings += found.length
}
if (scripts === 0) console.error(`lint-scripts: no script in ${paths.join(', ')}`)
if (scripts === 0 || findings > 0) process.exitCode = 1

function problemWith(paths: readonly string[]): string | undefined {
  const option = paths.find((path) => path.startsWith('-'))
  if (option !== undefined) return `unknown option ${option}`
  if (paths.length === 0) return 'no path given'
  const missing = paths.find((path) => !existsSync(path))
  return missing === undefined ? undefined : `${missing} does not exist`
}

function filesBelow(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile())
    .sort()
}

async function lint(path: string, text: string, language: Language): Promise<readonly Finding[]> {
  if (language === 'none') return findInlineScripts(text)
  if (language === 'shell') return lintShell(text)
  if (language === 'python') return [...lintPython(text), ...lintLayout(path, text)]
  const message = `no linter for ${language.unknown}: write it in Python or shell`
  return [{ line: 1, column: 1, rule: 'interpreter', message }]
}

function lintLayout(path: string, text: string): readonly Finding[] {
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
