import { gzipSync } from 'node:zlib'
import fc from 'fast-check'

import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

export const ROLE = 'machineconfiguration.openshift.io/role'

export const machineConfig = (spec: unknown, labels: object = { [ROLE]: 'worker' }): KubeObject =>
  ({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: '90-test', labels },
    spec,
  }) as KubeObject

/** A MachineConfig that has these files. */
export const withFiles = (...files: readonly unknown[]) =>
  machineConfig({ config: { ignition: { version: '3.4.0' }, storage: { files } } })

export const file = (path: string, contents: unknown, more: object = {}) => ({
  path,
  mode: 420,
  overwrite: true,
  contents,
  ...more,
})

export const base64 = (content: string | Uint8Array, header = 'data:;base64,') => ({
  source: header + Buffer.from(content).toString('base64'),
})

export const percent = (content: string | Uint8Array) => ({
  source: `data:,${[...Buffer.from(content)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`,
})

export const gzip = (content: string | Uint8Array, level = 9) => ({
  ...base64(gzipSync(content, { level })),
  compression: 'gzip',
})

/** The ways in which tools write the same bytes into an Ignition file, no two of them compressed. */
export const plainEncodings: readonly ((content: Uint8Array) => object)[] = [
  base64,
  percent,
  (content) => base64(content, 'data:text/plain;charset=utf-8;base64,'),
  (content) => ({ ...base64(content), compression: '' }),
  (content) => ({ ...percent(content), compression: null }),
  (content) => ({ ...base64(content), verification: {} }),
]

export const encodings = [
  ...plainEncodings,
  gzip,
  (content: Uint8Array) => gzip(content, 0),
  (content: Uint8Array) => gzip(content, 1),
] as const

/** Contents, some of which compress well. */
export const anyContent = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(400))
    .map(([piece, times]) => new Uint8Array(Buffer.concat(Array(times).fill(piece)))),
)

/** Values of every type, with the names that a MachineConfig has and some that no object should. */
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      '',
      'gzip',
      'data:,a',
      'data:;base64,QQ==',
      '/etc/a',
      '3.4.0',
    ),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...['spec', 'config', 'storage', 'files', 'systemd', 'units', 'passwd', 'users', 'path'],
        ...['name', 'contents', 'source', 'compression', 'verification', 'hash', 'ignition'],
        ...['version', 'kernelArguments', 'sshAuthorizedKeys', 'toString', '__proto__', 'a/b'],
      ),
      tie('tree'),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
}))
export const anything: fc.Arbitrary<unknown> = tree

/** MachineConfigs with wrong types in every place that anybody reads. */
export const hostile: fc.Arbitrary<KubeObject> = fc
  .oneof(
    anything,
    fc.record({ kernelArguments: anything, config: anything, fips: anything }),
    fc.record({
      config: fc.record(
        {
          ignition: anything,
          storage: fc.oneof(anything, fc.record({ files: fc.oneof(anything, fc.array(anything)) })),
          systemd: fc.oneof(anything, fc.record({ units: fc.oneof(anything, fc.array(anything)) })),
          passwd: fc.oneof(anything, fc.record({ users: fc.oneof(anything, fc.array(anything)) })),
        },
        { requiredKeys: [] },
      ),
    }),
    fc
      .array(fc.record({ path: fc.constantFrom('/a', '/b', 1), contents: anything }))
      .map((files) => ({ config: { storage: { files } } })),
  )
  .map((spec) => machineConfig(spec))

export const nested = (depth: number): unknown => {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { contents: value }
  return value
}
