#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

import { createProgram } from './program.ts'
import { runCli } from './run-cli.ts'

// Almost all that is allocated here is garbage at once. Left alone, V8 lets the space for young objects grow to more
// than everything else takes: under load the webhook took 300 MB without this flag and 155 MB with it, for a tenth more
// processor time; --max-semi-space-size, which only the command line can set, 200 to 230 MB at any size from 1 to 16.
setFlagsFromString('--semi-space-growth-factor=1')

const code = await runCli(createProgram(process.env), process.argv.slice(2), process.stderr)
// What failed may have left watches and timers behind; what ended well has not.
if (code !== 0) process.exit(code)
