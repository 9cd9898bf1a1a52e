// Plain JavaScript for any Node from 18 on: it runs before a package is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const stamp = 'node_modules/.installed-from'
const wanted = createHash('sha256')
  .update(readFileSync('package-lock.json'))
  .update(readFileSync('.taprc'))
  .digest('hex')
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0)

// Warnings of npm's are about the Node that it runs on itself, which is not the one that we run on.
run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts=false')
// The package `node` fetches its binary in an install script; without it everything would run on the Node that npm came with.
if (!existsSync('node_modules/node/bin/node'))
  fail(
    'the package "node" has no binary: allow its install script (npm install-scripts approve node) and try again',
  )
run('npm', 'exec', '--no', '--', 'tap', 'build') // else the first run of tap still loads its TypeScript plugin, which fails with TypeScript 7
writeFileSync(stamp, wanted)

function run(...command) {
  console.log(`> ${command.join(' ')}`)
  const { status, error } = spawnSync(command[0], command.slice(1), {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error || status !== 0)
    fail(`"${command.join(' ')}" failed${error ? `: ${error.message}` : ''}`)
}

function fail(message) {
  console.error(`set-up: ${message}`)
  process.exit(1)
}
