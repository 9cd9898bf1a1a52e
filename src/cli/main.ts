#!/usr/bin/env node
import { createProgram } from './program.ts'
import { runCli } from './run-cli.ts'

const code = await runCli(createProgram(process.env), process.argv.slice(2), process.stderr)
// What failed may have left watches and timers behind; what ended well has not.
if (code !== 0) process.exit(code)
