import { createProgram } from './program.ts'
import { runCli } from './run-cli.ts'

process.exitCode = await runCli(createProgram(process.env), process.argv.slice(2), process.stderr)
