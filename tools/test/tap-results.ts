import { Parser, type Result } from 'tap-parser'

/** How many assertions ended how. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
  todo: number
}

export const noCounts = (): Counts => ({ passed: 0, failed: 0, skipped: 0, todo: 0 })

/** Adds what these are to the total. */
export function add(total: Counts, counts: Counts): void {
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  total.todo += counts.todo
}

/** The closing lines of a run; the very last one is "N passed, N failed". */
export function summary({ passed, failed, skipped, todo }: Counts): string {
  const others = skipped + todo > 0 ? `${skipped} skipped, ${todo} todo\n` : ''
  return `${others}${passed} passed, ${failed} failed\n`
}

/** Text in the Test Anything Protocol as it is read. */
export interface TapReader {
  readonly parser: Parser
  readonly counts: Counts
}

/** Reads TAP: counts its assertions, and tells of each failed one its path, place and difference. */
export function readTap(name: string, onFailure: (text: string) => void): TapReader {
  const parser = new Parser()
  const counts = noCounts()
  const tally = (result: Result, path: readonly string[]) => {
    const outcome = outcomeOf(result)
    counts[outcome]++
    if (outcome === 'failed') onFailure(failureText(result, path))
  }
  follow(parser, name ? [name] : [], tally)
  return { parser, counts }
}

type Tally = (result: Result, path: readonly string[]) => void

function follow(parser: Parser, path: readonly string[], tally: Tally): void {
  let child: Parser | undefined
  parser.on('child', (next: Parser) => {
    child = next
    follow(next, [...path, next.name], tally)
  })
  parser.on('assert', (result: Result) => {
    const isLeaf = !child || child.results?.count === 0 // a suite's own line repeats its children
    child = undefined
    if (isLeaf) tally(result, [...path, result.name])
  })
}

function outcomeOf({ skip, todo, ok }: Result): keyof Counts {
  if (skip) return 'skipped'
  if (todo) return 'todo'
  return ok ? 'passed' : 'failed'
}

function failureText({ diag }: Result, path: readonly string[]): string {
  const at = diag?.at?.fileName ? `  at ${diag.at.fileName}:${diag.at.lineNumber}\n` : ''
  return `FAIL ${path.filter(Boolean).join(' > ')}\n${at}${diag?.diff ?? diag?.stack ?? ''}\n`
}
