// Runs the cluster tests, or those that are named, and wants most lines of the code that talks to the API server run by them.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { FOLDERS } from './coverage-map-cluster.mjs'

const WANTED_PERCENT = 80

const named = process.argv.slice(2)
const { status } = spawnSync(
  'tap',
  [
    '--no-disable-coverage',
    '--allow-incomplete-coverage',
    '--coverage-report=json-summary',
    '--coverage-map=tools/coverage-map-cluster.mjs',
    ...(named.length > 0 ? named : ['test/cluster/**/*.test.ts']),
  ],
  {
    stdio: 'inherit',
    // Of a minified bundle no line is told from another: the processes run the sources themselves.
    env: { ...process.env, AUTOPILOT_FROM_SOURCE: 'true' },
  },
)

const summary = JSON.parse(readFileSync('.tap/report/coverage-summary.json', 'utf8'))
const files = Object.entries(summary)
  .filter(([path]) => path !== 'total')
  .map(([path, { lines }]) => ({ path: relative('.', path), ...lines }))
  .sort((a, b) => a.path.localeCompare(b.path))
const percentOf = (some) => {
  const sum = (member) => some.reduce((total, file) => total + file[member], 0)
  return (100 * sum('covered')) / sum('total')
}
const line = (percent, path) => console.log(`${percent.toFixed(1).padStart(6)} %  ${path}`)

for (const file of files) line(percentOf([file]), file.path)
const folders = FOLDERS.map((folder) => {
  const percent = percentOf(files.filter(({ path }) => path.startsWith(`${folder}/`)))
  line(percent, folder)
  return percent
})
const isEnough = folders.every((percent) => percent >= WANTED_PERCENT)
if (!isEnough) console.error(`below ${WANTED_PERCENT} % of lines`)
process.exit(status || (isEnough ? 0 : 1))
