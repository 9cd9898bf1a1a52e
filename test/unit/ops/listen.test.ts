import t from 'tap'

import { listenError, parseListen } from '../../../src/shared/ops/listen.ts'

t.test('addresses to listen on', async (t) => {
  t.same(parseListen(':9443'), { host: '0.0.0.0', port: 9443 })
  t.same(parseListen('127.0.0.1:0'), { host: '127.0.0.1', port: 0 })
  t.same(parseListen('[::1]:8081'), { host: '::1', port: 8081 })
  t.same(parseListen('localhost:80'), { host: 'localhost', port: 80 })
  for (const text of ['', '9443', 'host', 'host:', ':x', ':70000', 'a:b:1', ':-1']) {
    t.throws(() => parseListen(text), {
      message: `"${text}" is no address to listen on: write HOST:PORT or :PORT`,
    })
  }
})

t.test('a failure to listen names the address, the reason and the flag', async (t) => {
  const at = { host: '127.0.0.1', port: 80 }
  const told = (code: string) =>
    listenError(Object.assign(new Error('odd'), { code }), at, '--listen').message
  t.equal(
    told('EADDRINUSE'),
    'cannot listen on 127.0.0.1:80: another process uses it; choose another with --listen',
  )
  t.equal(
    told('EACCES'),
    'cannot listen on 127.0.0.1:80: the user may not open it; choose another with --listen',
  )
  t.equal(told('EADDRNOTAVAIL'), 'cannot listen on 127.0.0.1:80: odd; choose another with --listen')
})
