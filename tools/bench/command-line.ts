import { parseArgs } from 'node:util'

import { type Effort, FULL, QUICK } from './effort.ts'

/** The page with the numbers. */
export const PAGE = 'docs/performance.md'

/** What is wanted. */
export interface CommandLine {
  readonly effort: Effort
  readonly wanted: readonly string[]
  /** Whether the page is to have the numbers. */
  readonly isWritten: boolean
}

/** Reads which measurements are wanted and how much of them; ends the process for --help and for mistakes. */
export function readCommandLine(args: readonly string[], names: readonly string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean' },
        quick: { type: 'boolean' },
        write: { type: 'boolean', default: false },
        only: { type: 'string', default: names.join(',') },
      },
    })
    if (values.help) {
      console.log(helpOn(names))
      process.exit(0)
    }
    const wanted = values.only.split(',')
    const unknown = wanted.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new Error(`--only knows ${names.join(', ')}, not "${unknown}"`)
    if (values.quick && values.write)
      throw new Error(`--quick measures nothing worth writing to ${PAGE}: leave out one of them`)
    return { isWritten: values.write, effort: values.quick ? QUICK : FULL, wanted }
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`)
    process.exit(2)
  }
}

const helpOn = (names: readonly string[]) => `\
Measures the product, bundled as it is shipped, on a control plane of its own.

  npm run bench                        everything, in about half an hour
  npm run bench -- --quick             everything with tiny counts: whether it works, not how fast
  npm run bench -- --only heal,idle    some of ${names.join(', ')}
  npm run bench -- --write             writes what was measured to ${PAGE} too; with --only, the rest of it stays

Prints a table and writes bench-results.json. Nothing is asserted: it fails only where it could not measure.
`
