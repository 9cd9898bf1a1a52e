import { existsSync, globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, { readonly 'timeout-minutes': number; readonly steps: readonly Step[] }>
  >
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
    const steps = jobs.flatMap((job) => job.steps)
    for (const { uses } of steps) if (uses) t.match(uses, /^actions\/[a-z-]+@v\d+$/)
    const commands = steps.map(({ run = '' }) => run).join('\n')
    for (const [, name = ''] of commands.matchAll(/npm run (?:-s )?([\w:]+)/g))
      t.ok(scripts[name], name)
    for (const [path] of commands.matchAll(/^\.ci\/\w+/gm)) t.ok(existsSync(path), path)
  })
}
