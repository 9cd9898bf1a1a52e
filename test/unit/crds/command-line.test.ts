import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockWith, published, SORTS } from './published.ts'

const MAIN = join(import.meta.dirname, '../../../tools/crds/main.ts')

/** Runs the command where there is neither go nor python3. */
const crds = (...args: readonly string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { PATH: '' } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

t.test('what cannot be downloaded is named, and stays as it is', async (t) => {
  const ofModule = published(SORTS)
  const ofPackage = published(SORTS, undefined, {
    name: 'orders.example.com',
    source: 'python-orders',
  })
  const lock = lockWith(ofModule, ofPackage)
  const sources = [
    ...lock.sources,
    { package: 'python-orders', version: '1.0.0', sha256: '0', licence: 'Apache-2.0' },
  ]
  const folder = t.testdir({
    'crds.lock.yaml': JSON.stringify({ ...lock, sources }),
    'crds.go.sum': 'example.com/sorts v1.2.3 h1:0\n',
    operators: { 'sorts.example.com.yaml': 'what is there\n' },
  })
  for (const args of [[], ['--verify']]) {
    const { code, stdout } = await crds('--folder', folder, ...args)
    t.equal(code, 1)
    t.same(stdout.trimEnd().split('\n'), [
      'left as it was, since no `go` is on the PATH: install it',
      '  operators/sorts.example.com.yaml',
      'left as it was, since no `python3` is on the PATH: install it',
      '  operators/orders.example.com.yaml',
      '0 current, 0 written, 0 differ, 2 left as they were',
    ])
    const file = join(folder, 'operators/sorts.example.com.yaml')
    t.equal(readFileSync(file, 'utf8'), 'what is there\n')
  }
})

t.test('a module without a sum is not downloaded', async (t) => {
  const folder = t.testdir({
    'crds.lock.yaml': JSON.stringify(lockWith(published(SORTS))),
    'crds.go.sum': '',
  })
  const { code, stdout } = await crds('--folder', folder)
  t.equal(code, 1)
  t.match(
    stdout,
    'example.com/sorts@v1.2.3 has no sum in crds.go.sum: add its two lines, as go.sum has them',
  )
})

t.test('a mistake in the command line is told before anything is done', async (t) => {
  t.match(await crds('--nothing'), { code: 2, stderr: /^crds: Unknown option '--nothing'/ })
  t.match(await crds('--folder', '/nowhere'), {
    code: 2,
    stderr: 'crds: --folder /nowhere has no crds.lock.yaml: name a folder that has one\n',
  })
  t.match(await crds('--help'), { code: 0, stdout: /npm run crds -- --verify/ })
})
