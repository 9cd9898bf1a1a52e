import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
}
type Permissions = Readonly<Record<string, string>>
interface Job {
  readonly 'timeout-minutes': number
  readonly permissions?: Permissions
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly permissions: Permissions
  readonly jobs: Readonly<Record<string, Job>>
}

const MAY_WRITE: Readonly<Record<string, readonly string[]>> = {
  'definitions.yaml': ['issues'],
  'release.yaml': ['contents', 'packages', 'id-token', 'attestations'],
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

for (const file of globSync('.github/workflows/*.yaml')) {
  t.test(`${file} runs what there is, with few rights and an end`, async (t) => {
    const workflow = parse(readFileSync(file, 'utf8')) as Workflow
    t.equal(workflow.permissions.contents, 'read')
    const jobs = Object.values(workflow.jobs)
    t.ok(jobs.every((job) => job['timeout-minutes'] <= 90))
    // What anybody can have run by a pull request may write nothing.
    const written = [workflow, ...jobs].flatMap(({ permissions = {} }) =>
      Object.keys(permissions).filter((of) => permissions[of] === 'write'),
    )
    t.same(written, MAY_WRITE[basename(file)] ?? [])
    const steps = jobs.flatMap((job) => job.steps)
    for (const { uses } of steps) if (uses) t.match(uses, /^actions\/[a-z-]+@v\d+$/)
    const commands = steps.map(({ run = '' }) => run).join('\n')
    for (const [, name = ''] of commands.matchAll(/npm run (?:-s )?([\w:]+)/g))
      t.ok(scripts[name], name)
    for (const [path] of commands.matchAll(/^\.ci\/\w+|\btools\/[\w/-]+\.ts\b/gm))
      t.ok(existsSync(path), path)
  })
}
