import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { findBinaries } from '../../../tools/go-programs/binaries.ts'
import { interrupt, paste, startDev, toTry } from '../cli/npm-start.ts'
import { environment } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

t.test(
  'npm start -- --systems graph: a Transform is ready, and what it says to try works',
  async (t) => {
    const dev = startDev(t, ['--systems=graph'])
    await dev.untilPrinted('Ctrl-C ends everything')
    const { kubeconfig, commands } = toTry(dev.printed())
    const { kubectl } = await findBinaries({ env: environment(), print: (line) => t.comment(line) })
    const run = (line: string) => paste(line, kubeconfig, kubectl)
    const jsonPath = (what: string, path: string) =>
      run(`kubectl get -n shop ${what} --ignore-not-found -o jsonpath='{${path}}'`)

    const expected = [
      { code: 0, said: /transform\.platform\.pequod\.io\/shop +embedded +True/ },
      { code: 0, said: /patched/ },
      { code: 0, said: /deleted/ },
      { code: 1, said: /spec\.input\.replicas: invalid value -1/ },
      { code: 1, said: /DATABASE_PASSWORD.*no-plain-secrets/ },
      {
        code: 0,
        said: /Deployment shop\/shop[\s\S]*deletionPolicy[\s\S]*\(server dry run\)/,
      },
      { code: 0, said: /deleted/ },
    ]
    t.equal(commands.length, expected.length)
    const uid = (await jsonPath('service shop', '.metadata.uid')).said
    for (const [index, command] of commands.entries()) {
      const { code, said } = await run(command)
      t.equal(code, expected[index]?.code, command)
      t.match(said, expected[index]?.said ?? /^$/)
      if (index === 1)
        await until(
          'there are three replicas',
          async () => (await jsonPath('deployment shop', '.status.availableReplicas')).said === '3',
        )
      if (index === 2)
        await until('another Service is there', async () => {
          const now = (await jsonPath('service shop', '.metadata.uid')).said
          return now !== '' && now !== uid
        })
    }
    await until(
      'nothing is left of it',
      async () =>
        (await run('kubectl get deployments,services,resourcegraphs -n shop -o name')).said === '',
    )

    t.equal(await interrupt(dev.child), 0)
    t.notOk(existsSync(dirname(kubeconfig)), 'its folder is gone')
  },
)
