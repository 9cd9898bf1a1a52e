// Lints every script below the given paths, whatever it is called. `--write` lays Python out as it should be.
import { lintScripts } from './lint.ts'

const { status, lines } = await lintScripts(process.argv.slice(2), '.')
for (const line of lines) console.error(line)
process.exitCode = status
