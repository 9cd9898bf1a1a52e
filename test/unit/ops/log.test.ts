import t from 'tap'

import { ApiError, UnreachableError } from '../../../src/shared/cluster/client.ts'
import { createLog, createTroubleTeller, type Log } from '../../../src/shared/ops/log.ts'

function told() {
  const lines: string[] = []
  const log = { warn: (_fields: object, message: string) => lines.push(message) }
  return { lines, tell: createTroubleTeller(log as unknown as Log) }
}

t.test('tells each trouble once, until things went well again', async (t) => {
  const { lines, tell } = told()
  for (const reason of ['refused', 'refused', 'forbidden']) tell('cannot read nodes', Error(reason))
  t.same(lines, ['cannot read nodes', 'cannot read nodes'])
  tell.recovered()
  tell('cannot read nodes', Error('refused'))
  t.equal(lines.length, 3)
})

t.test('tells once that nobody answers, or accepts us, whatever was to be done', async (t) => {
  const { lines, tell } = told()
  for (const name of ['nodes', 'hco', 'nodes']) {
    tell(`cannot read ${name}`, new UnreachableError(`GET /${name}: refused`))
    tell(`cannot read ${name}`, new ApiError(`GET /${name}`, 401, { message: 'Unauthorized' }))
  }
  t.same(lines, [
    'waiting for the API server',
    'the API server does not accept our credentials; trying again',
  ])
  tell('cannot read nodes', new ApiError('GET /nodes', 403, { message: 'forbidden' }))
  t.equal(lines.at(-1), 'cannot read nodes')
})

t.test(
  'logs nothing that could forge a line or reorder one, and loses nothing of it',
  async (t) => {
    const lines: string[] = []
    const log = createLog('test', 'info', { write: (line) => lines.push(line) })
    const user = 'eve\n{"level":30}\r\u001b[2J\u009b\u202e\u2028\ud800 😀'
    log.info({ user, [user]: 1, err: new Error(user) }, user)
    const [line = '', ...others] = lines
    t.strictSame(others, [])
    t.match(line, /\n$/)
    t.notMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    t.match(JSON.parse(line), { msg: user, user, [user]: 1, err: { message: user } })
  },
)
