import t from 'tap'

import { ignitionFaults } from './ignition.ts'

const FILE = { path: '/etc/x', mode: 420, contents: { source: 'data:text/plain;base64,eA==' } }
const UNIT = { name: 'a.service', enabled: true, contents: '[Unit]\n[Install]\nWantedBy=x\n' }

const faultsIn = (config: object, version = '3.4.0') =>
  ignitionFaults({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: 'x' },
    spec: { config: { ignition: { version }, ...config } },
  })

const files = (...list: readonly object[]) => ({ storage: { files: list } })
const units = (...list: readonly object[]) => ({ systemd: { units: list } })

t.test('what is right has no fault', async (t) => {
  t.same(faultsIn({ ...files(FILE), ...units(UNIT) }), [])
  t.same(faultsIn({}), [])
})

const wrong: readonly (readonly [what: string, config: object, fault: RegExp, version?: string])[] =
  [
    ['a version that is not known', {}, /^no specification 3\.9\.0 is known$/, '3.9.0'],
    ['a version in between', {}, /^no specification 3\.4\.1 is known$/, '3.4.1'],
    ['the inline contents of Butane', files({ ...FILE, contents: { inline: 'x' } }), /inline/],
    ['an unknown member', { storage: { folders: [] } }, /folders/],
    ['a mode as a text', files({ ...FILE, mode: '0644' }), /mode must be integer/],
    ['an octal mode that was read as decimal', files({ ...FILE, mode: 644 }), /: mode 644$/],
    ['a relative path', files({ ...FILE, path: 'etc/x' }), /no absolute path/],
    [
      'a source that is no data URL',
      files({ ...FILE, contents: { source: 'eA==' } }),
      /no data URL/,
    ],
    [
      'a compressed file',
      files({ ...FILE, contents: { ...FILE.contents, compression: 'gzip' } }),
      /is compressed$/,
    ],
    ['a file twice', files(FILE, FILE), /^file \/etc\/x is there twice$/],
    ['a unit twice', units(UNIT, UNIT), /^unit a\.service is there twice$/],
    ['a unit without an ending', units({ ...UNIT, name: 'a' }), /is no name of a unit/],
    [
      'a unit that nothing wants',
      units({ ...UNIT, contents: '[Unit]\n' }),
      /says not what wants it/,
    ],
    [
      'a unit without its section',
      units({ ...UNIT, contents: '[Install]\n' }),
      /no section \[Unit\]/,
    ],
    [
      'a drop-in without content',
      units({ name: 'a.slice', dropins: [{ name: 'x.conf' }] }),
      /is none$/,
    ],
  ]

for (const [what, config, fault, version] of wrong) {
  t.test(`finds ${what}`, async (t) => {
    const faults = faultsIn(config, version)
    t.ok(
      faults.some((line) => fault.test(line)),
      JSON.stringify(faults),
    )
  })
}
