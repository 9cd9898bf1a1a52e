import t from 'tap'
import { hasForeignSwapManager } from '../../../../src/shared/baseline/facts/swap-manager.ts'

interface Given {
  readonly percentage?: unknown
  readonly version?: string
  readonly autopilot?: string
  readonly apiVersion?: 'v1' | 'v1beta1'
}

const hco = ({ percentage, version, autopilot, apiVersion = 'v1' }: Given) => {
  const density = { higherWorkloadDensity: { memoryOvercommitPercentage: percentage } }
  return {
    apiVersion: `hco.kubevirt.io/${apiVersion}`,
    kind: 'HyperConverged',
    metadata: {
      name: 'kubevirt-hyperconverged',
      annotations: {
        ...(autopilot !== undefined && { 'platform.kubevirt.io/autopilot': autopilot }),
      },
    },
    spec: apiVersion === 'v1' ? { virtualization: density } : density,
    ...(version !== undefined && {
      status: {
        versions: [
          { name: 'other', version: '9.0.0' },
          { name: 'operator', version },
        ],
      },
    }),
  }
}

const cases: readonly (readonly [what: string, given: Given, isForeign: boolean])[] = [
  ['no percentage', {}, false],
  ['a percentage of 100', { percentage: 100 }, false],
  ['a percentage of 101', { percentage: 101 }, true],
  ['a percentage of 150 in v1beta1', { percentage: 150, apiVersion: 'v1beta1' }, true],
  ['a percentage of 100 in v1beta1', { percentage: 100, apiVersion: 'v1beta1' }, false],
  ['1.18 that is left alone', { percentage: 150, version: '1.18.0' }, true],
  ['1.18 and true', { percentage: 150, version: '1.18.0', autopilot: 'true' }, false],
  ['1.18 and true with blanks', { percentage: 150, version: '1.18.0', autopilot: ' true ' }, false],
  ['1.18 and True', { percentage: 150, version: '1.18.0', autopilot: 'True' }, true],
  ['1.18 and false', { percentage: 150, version: '1.18.0', autopilot: 'false' }, true],
  ['1.18 and observe', { percentage: 150, version: '1.18.0', autopilot: 'observe' }, true],
  ['1.18 and our group', { percentage: 150, version: '1.18.0', autopilot: 'swap' }, true],
  ['1.18 and true in a list', { percentage: 150, version: '1.18.0', autopilot: 'true,x' }, true],
  [
    '1.18 and a list with it',
    { percentage: 150, version: '1.18.3', autopilot: 'metallb, swap-enable ' },
    false,
  ],
  [
    '1.18 and a list with the twin alone',
    { percentage: 150, version: '1.18.3', autopilot: 'swap-enable-master' },
    true,
  ],
  ['1.17 and true', { percentage: 150, version: '1.17.9', autopilot: 'true' }, true],
  ['a candidate of 1.18', { percentage: 150, version: '1.18.0-rc.1', autopilot: 'true' }, false],
  ['1.19', { percentage: 150, version: 'v1.19.0', autopilot: 'true' }, false],
  ['2.0', { percentage: 150, version: '2.0.0', autopilot: 'true' }, false],
  ['a version that is none', { percentage: 150, version: 'latest', autopilot: 'true' }, true],
  ['no version', { percentage: 150, autopilot: 'true' }, true],
]

for (const [what, given, isForeign] of cases)
  t.test(`wasp-agent ${isForeign ? 'comes' : 'does not come'} with ${what}`, async (t) => {
    t.equal(hasForeignSwapManager(hco(given), []), isForeign)
  })

t.test('wasp-agent is there while its DaemonSet is, wherever, and even as it goes', async (t) => {
  const agent = (namespace: string, rest: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'wasp-agent', namespace, ...rest },
  })
  const exempt = hco({ percentage: 150, version: '1.18.0', autopilot: 'true' })
  t.ok(hasForeignSwapManager(exempt, [agent('openshift-cnv')]))
  t.ok(hasForeignSwapManager(hco({}), [agent('wasp')]))
  const deletionTimestamp = '2026-11-01T08:00:00Z'
  t.ok(hasForeignSwapManager(hco({}), [agent('wasp', { deletionTimestamp })]))
})
