import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { spawnLeashed } from '../../../tools/control-plane/processes.ts'
import { ENTRY } from '../harness/autopilot-fixture.ts'
import type { Said, Scope } from '../harness/fixture.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'

const lines = ({ stderr }: Said) => stderr.trim().split('\n')

/** A kubeconfig of a cluster at an address, for nobody in particular. */
const kubeconfigAt = (server: string, more = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'secret-token' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  })

async function listenTo(t: Pick<Scope, 'teardown'>, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  t.teardown(async () => {
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

t.test('a kubeconfig that is not there is told in one line, with the way out', async (t) => {
  const missing = { env: { KUBECONFIG: '/nowhere/kubeconfig' } }
  for (const [ended, message] of [
    [
      await run(['unregister']),
      /: there is no kubeconfig: give one with --kubeconfig FILE, or set/,
    ],
    [await run(['unregister'], missing), /there is no file \/nowhere\/kubeconfig; give one with/],
  ] as const) {
    t.equal(ended.code, 1)
    t.match(ended.stderr, message)
    t.equal(lines(ended).length, 1)
  }
})

t.test('a wrong command line is told in one line and ends with 2', async (t) => {
  const wrong: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [['reconciler', '--no-such-flag'], /unknown option '--no-such-flag'/],
    [['reconcile'], /unknown command 'reconcile'/],
    [['webhook', 'graphs'], /'graphs' is invalid for argument 'system'.*baseline/],
    [['reconciler', 'baselines'], /'baselines' is invalid for argument 'system'/],
    [['reconciler', 'baseline', 'graph'], /too many arguments/],
    [['webhook', '--listen=nowhere'], /--listen.*"nowhere" is no address to listen on/],
    [['webhook', '--listen=:99999'], /--listen.*":99999" is no address to listen on/],
    [['webhook', '--ops-listen=:x'], /--ops-listen.*":x" is no address to listen on/],
    [['reconciler', '--resync=5'], /--resync.*Write a number and ms, s, m or h/],
    [['reconciler', '--webhook-timeout=0'], /--webhook-timeout.*whole seconds, from 1 to 30/],
    [['reconciler', '--webhook-timeout=31'], /--webhook-timeout.*whole seconds, from 1 to 30/],
    [['reconciler', '--webhook-timeout=5s'], /--webhook-timeout.*whole seconds, from 1 to 30/],
    [['reconciler', '--webhook-url=http://127.0.0.1:1'], /--webhook-url.*https:\/\/HOST:PORT/],
    [['reconciler', '--webhook-ca-injection=true'], /--webhook-ca-injection.*inject-ca-from=/],
    [
      ['reconciler', '--webhook-ca=ca.crt', '--webhook-ca-injection=example.com/inject=true'],
      /--webhook-ca-injection.*cannot be used with.*--webhook-ca /,
    ],
    [['reconciler', '--webhook-url=here'], /--webhook-url.*https:\/\/HOST:PORT/],
    [['reconciler', '--disruptive-changes=maybe'], /--disruptive-changes.*hold, apply/],
    [['webhook', '--cert-mode=files'], /--cert-mode files needs --cert-dir FOLDER/],
    [['override'], /missing required argument 'file'/],
    [['render', '-o', 'xml'], /--output.*yaml, json, status/],
    [['render', '--asset=swap'], /--asset: no asset is named "swap": did you mean "swap-enable"\?/],
    [['render', '--asset=metalb'], /did you mean "metallb"\?/],
    [['render', '--without-api=metallb'], /no API group "metallb": did you mean "metallb.io"\?/],
    [['render', '--without-api=hco.kubevirt.io'], /without a HyperConverged nothing is kept/],
    [['render', '--kubeconfig=x', '--force-gpu'], /--force-gpu is of no use with --kubeconfig/],
    [['render', '--kubeconfig=x', '--nodes=y'], /--nodes is of no use with --kubeconfig/],
    [['diff', '--output=yaml'], /--output.*text, json/],
    [
      ['diff', '--kubeconfig=x', '--fail-on=reboot', '--disruptive-changes=apply'],
      /--fail-on reboot asks what waits for approval: with --disruptive-changes apply nothing would/,
    ],
  ]
  const said = await Promise.all(wrong.map(([args]) => run(args)))
  for (const [index, [args, message]] of wrong.entries()) {
    const ended = said[index]
    if (!ended) throw new Error('it did not run')
    t.equal(ended.code, 2, args.join(' '))
    t.match(ended.stderr, message)
    const told = lines(ended).filter((line) => !/^\(Did you mean /.test(line))
    t.equal(told.length, 1, ended.stderr)
    t.equal(ended.stdout, '')
  }
})

t.test('a kubeconfig that cannot be used is told in one line and ends with 1', async (t) => {
  const folder = t.testdir({
    broken: 'a: b: c',
    empty: '',
    'no-context': kubeconfigAt('https://127.0.0.1:1', { 'current-context': '' }),
    'wrong-context': kubeconfigAt('https://127.0.0.1:1', { 'current-context': 'other' }),
    manifest: 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n',
  })
  for (const [name, args] of [
    ['broken', ['webhook']],
    ['empty', ['reconciler']],
    ['no-context', ['unregister']],
    ['wrong-context', ['override', join(folder, 'manifest')]],
    ['missing', ['webhook']],
  ] as const) {
    const file = join(folder, name)
    const ended = await run([...args, `--kubeconfig=${file}`])
    t.equal(ended.code, 1, `${args[0]} with a kubeconfig that is ${name}`)
    t.equal(lines(ended).length, 1, ended.stderr)
    t.match(ended.stderr, /^virt-platform-autopilot: /)
    t.ok(ended.stderr.includes(file), ended.stderr)
    t.match(ended.stderr, /--kubeconfig|kubectl config use-context/)
  }
})

t.test('a stack trace is shown to who asks for debug', async (t) => {
  const args = ['unregister', '--kubeconfig=/no/such/file', '--log-level=debug']
  t.match((await run(args)).stderr, /^ +at /m)
})

t.test('an API server that does not answer', async (t) => {
  const manifest = 'apiVersion: v1\nkind: A\nmetadata: {name: a}\n'
  const port = await freePort()
  const folder = t.testdir({ kubeconfig: kubeconfigAt(`https://127.0.0.1:${port}`), manifest })
  const kubeconfig = `--kubeconfig=${join(folder, 'kubeconfig')}`
  for (const [code, args] of [
    [1, ['unregister']],
    [1, ['override', join(folder, 'manifest')]],
    [1, ['render']],
    [2, ['diff']],
  ] as const) {
    await t.test(`ends ${args[0]} with one line that names it`, async (t) => {
      const ended = await run([...args, kubeconfig])
      t.equal(ended.code, code)
      t.equal(lines(ended).length, 1, ended.stderr)
      t.ok(ended.stderr.includes(`127.0.0.1:${port}`), ended.stderr)
      t.notMatch(ended.stderr, 'secret-token')
    })
  }

  for (const [name, flags] of [
    ['webhook', ['--listen=127.0.0.1:0', '--ops-listen=127.0.0.1:0', '--shutdown-grace=0s']],
    ['reconciler', ['--ops-listen=127.0.0.1:0']],
  ] as const) {
    await t.test(`is waited for by the ${name}, which says so once`, async (t) => {
      let calls = 0
      const server = createServer((socket) => {
        calls += 1
        socket.destroy()
      })
      const address = `127.0.0.1:${await listenTo(t, server)}`
      const cwd = t.testdir({ kubeconfig: kubeconfigAt(`https://${address}`) })
      const child = spawnLeashed({
        name,
        file: process.execPath,
        args: [ENTRY, name, '--kubeconfig=kubeconfig', ...flags],
        cwd,
        env: {},
        logFile: join(cwd, 'log'),
      })
      t.teardown(() => child.kill())
      await until('it has tried often', async () => calls > 8)
      const told = child
        .output()
        .split('\n')
        .filter((line) => line.includes('waiting for the API server'))
      t.equal(told.length, 1, child.output())
      t.ok(told[0]?.includes(address), child.output())
      t.notMatch(child.output(), /secret-token|^ +at /m)
      process.kill(child.pid, 'SIGTERM')
      await until('it ends when it is asked to', async () => !child.isRunning())
      t.equal(await child.ended, 'exit code 0')
    })
  }
})

t.test('a port in use is told with its address and its flag', async (t) => {
  const port = await listenTo(t, createServer())
  const kubeconfig = join(
    t.testdir({ kubeconfig: kubeconfigAt('https://127.0.0.1:1') }),
    'kubeconfig',
  )
  for (const [name, flags, flag] of [
    ['webhook', [`--listen=127.0.0.1:${port}`, '--ops-listen=127.0.0.1:0'], '--listen'],
    ['webhook', [`--ops-listen=127.0.0.1:${port}`, '--listen=127.0.0.1:0'], '--ops-listen'],
    ['reconciler', [`--ops-listen=127.0.0.1:${port}`], '--ops-listen'],
  ] as const) {
    const ended = await run([name, `--kubeconfig=${kubeconfig}`, ...flags])
    t.equal(ended.code, 1, ended.stderr)
    const last = lines(ended).at(-1) ?? ''
    t.match(
      last,
      `cannot listen on 127.0.0.1:${port}: another process uses it; choose another with ${flag}`,
    )
    t.notMatch(ended.stderr, /^ +at /m)
  }
})

t.test('help and the version are printed', async (t) => {
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'),
  )
  t.match(await run(['version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  t.match(await run(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  const commands = ['webhook', 'reconciler', 'render', 'diff', 'override', 'rbac']
  for (const command of [...commands, 'unregister']) {
    const said = await run([command, '--help'])
    t.match(said, { code: 0, stderr: '' }, command)
    t.match(said.stdout, new RegExp(`^Usage: virt-platform-autopilot ${command} `))
  }
})
