import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { findTool } from '../../tools/go-programs/tools.ts'
import { environment } from '../cluster/harness/fixture.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The commands of a page that install or upgrade, each in one line. */
const commandsOf = (page: string): readonly string[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.replaceAll(/ *\\\n */g, ' ').split('\n'))
    .filter((line) => /^helm (install|upgrade) virt-platform-autopilot charts/.test(line))

t.test('the README and the chart’s install it as they say', async (t) => {
  const helm = await findTool('helm', environment(), (line) => t.comment(line))
  const env = { PATH: `${dirname(helm)}:${environment().PATH}`, HOME: '/nonexistent' }
  /** What a command would install, which takes no cluster to tell. */
  const rendered = async (command: string) => {
    const line = command
      .replace(/^helm (install|upgrade)/, `'${helm}' template --kube-version=1.34.0`)
      .replace(' --reuse-values', ' --set disruptiveChanges=hold,activation=observe')
    return (await promisify(execFile)('/bin/sh', ['-c', line], { cwd: ROOT, env })).stdout
  }
  const [observe = '', on = ''] = commandsOf('README.md')
  const [chart = ''] = commandsOf('charts/virt-platform-autopilot/README.md')
  for (const command of [observe, chart]) {
    const text = await rendered(command)
    t.match(text, '--activation=observe\n', command)
    t.match(text, '--disruptive-changes=hold\n')
    t.match(text, 'REGISTRY/virt-platform-autopilot:')
  }
  t.match(on, ' --reuse-values ')
  t.match(await rendered(on), '--activation=on\n')
  const [graph = '', off = ''] = commandsOf('docs/graph/operations.md')
  for (const name of ['team-a', 'team-b'])
    t.match(await rendered(graph), `name: transforms\n  namespace: "${name}"\n`)
  t.notMatch(await rendered(off), 'virt-platform-autopilot-graph')
})
