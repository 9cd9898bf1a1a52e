import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { escapeControls } from '../../shared/engine/format-value.ts'
import { PRODUCT } from '../../shared/engine/identity.ts'
import { titleOfFile } from '../read-objects.ts'
import type { Finding } from './judge.ts'

/** A verdict as people see it. */
export type Paint = (verdict: Finding['verdict']) => string

/** How `check` prints, by the name of its `-o`. */
export const FORMATS = { text, json, sarif, junit } as const satisfies Readonly<
  Record<string, (findings: readonly Finding[], paint: Paint) => string>
>

/** A line for each object of ours, and under it what its author is told. */
function text(findings: readonly Finding[], paint: Paint): string {
  return findings
    .flatMap((finding) => {
      const { object, verdict, reason } = finding
      const lines = linesOf(finding).map((line) => `  ${line}`)
      const subject = object === undefined ? '' : `${object}: `
      return [`${placeOf(finding)}: ${subject}${paint(verdict)} (${reason})`, ...lines]
    })
    .map((line) => `${line}\n`)
    .join('')
}

function json(findings: readonly Finding[]): string {
  return `${JSON.stringify({ findings }, undefined, 2)}\n`
}

const placeOf = ({ file, line }: Finding) => `${escapeControls(titleOfFile(file))}:${line}`

/** A denial has lines; nothing in one of them begins another, or acts on the terminal. */
const linesOf = ({ messages }: Finding) =>
  messages.flatMap((message) => message.split('\n')).map(escapeControls)

const headOf = ({ object, asset }: Finding) =>
  object === undefined ? [] : [`${object} (${asset})`]

const isFault = ({ verdict }: Finding) => verdict !== 'allowed'

const LEVELS = { denied: 'error', corrected: 'warning', unknown: 'note', allowed: 'none' } as const

const RULES = {
  denied: 'The webhook denies the manifest.',
  corrected: 'The webhook stores the manifest with managed fields put back.',
  unknown: 'The verdict cannot be told from what is known here.',
} as const

/** SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/: what code scanning shows beside the lines. */
function sarif(findings: readonly Finding[]): string {
  const rules = Object.entries(RULES).map(([id, text]) => ({ id, shortDescription: { text } }))
  const results = findings.filter(isFault).map((finding) => ({
    ruleId: finding.verdict,
    level: LEVELS[finding.verdict],
    message: { text: [...headOf(finding), ...linesOf(finding)].join('\n') },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(finding.file) },
          region: { startLine: finding.line },
        },
      },
    ],
  }))
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: PRODUCT, rules } }, results }],
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function uriOf(file: string): string {
  if (file === '-') return 'stdin'
  if (isAbsolute(file)) return pathToFileURL(file).href
  return file
    .replace(/^(\.\/)+/, '')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
}

/** JUnit's XML, as CI systems read it: a case for each object of ours. */
function junit(findings: readonly Finding[]): string {
  const faults = findings.filter(isFault)
  const errors = faults.filter(({ verdict }) => verdict === 'unknown').length
  const counts = `tests="${findings.length}" failures="${faults.length - errors}" errors="${errors}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${PRODUCT} check" ${counts}>`,
    ...findings.flatMap(caseOf),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseOf(finding: Finding): readonly string[] {
  const { file, object = titleOfFile(file), verdict, reason } = finding
  const name = escapeControls(object)
  const head = `    <testcase classname="${xml(placeOf(finding))}" name="${xml(name)}"`
  if (!isFault(finding)) return [`${head}/>`]
  const lines = linesOf(finding)
  const element = verdict === 'unknown' ? 'error' : 'failure'
  const attributes = `type="${xml(`${verdict}/${reason}`)}" message="${xml(lines[0] ?? reason)}"`
  return [
    `${head}>`,
    `      <${element} ${attributes}>${xml(lines.join('\n'))}</${element}>`,
    '    </testcase>',
  ]
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // What no XML may hold at all.
  '\uFFFE': '?',
  '\uFFFF': '?',
}

const xml = (text: string) => text.replace(/[&<>"\uFFFE\uFFFF]/g, (found) => ENTITIES[found] ?? '')
