import t from 'tap'

import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { fightsAmong } from './fights.ts'

const ROLE = 'machineconfiguration.openshift.io/role'

const machineConfig = (name: string, role: string, spec: object): KubeObject => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels: { [ROLE]: role } },
  spec,
})

const kubeletConfig = (name: string, pool: string, kubeletConfig: object): KubeObject => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'KubeletConfig',
  metadata: { name },
  spec: {
    machineConfigPoolSelector: {
      matchLabels: { [`pools.operator.machineconfiguration.openshift.io/${pool}`]: '' },
    },
    kubeletConfig,
  },
})

const healthCheck = (name: string, selector: object): KubeObject => ({
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  metadata: { name },
  spec: { selector },
})

const file = (path: string, text: string) => ({
  config: {
    storage: { files: [{ path, contents: { source: `data:;base64,${btoa(text)}` } }] },
  },
})
const unit = (part: object) => ({
  config: { systemd: { units: [{ name: 'a.service', ...part }] } },
})
const DROP_IN = '/etc/openshift/kubelet.conf.d/90-swap.conf'

const fights: readonly (readonly [
  what: string,
  one: KubeObject,
  other: KubeObject,
  fight: RegExp,
])[] = [
  [
    'a file',
    machineConfig('a', 'worker', file('/etc/x', '1')),
    machineConfig('b', 'worker', file('/etc/x', '2')),
    /^MachineConfig a and MachineConfig b fight over worker: file \/etc\/x$/,
  ],
  [
    'a kernel argument',
    machineConfig('a', 'worker', { kernelArguments: ['psi=1'] }),
    machineConfig('b', 'worker', { kernelArguments: ['psi=0'] }),
    /kernel argument psi$/,
  ],
  [
    'a unit',
    machineConfig('a', 'master', unit({ contents: '[Unit]' })),
    machineConfig('b', 'master', unit({ contents: '[Unit]\nAfter=x' })),
    /master: unit a\.service$/,
  ],
  [
    'a drop-in',
    machineConfig('a', 'master', unit({ dropins: [{ name: 'x.conf', contents: '1' }] })),
    machineConfig('b', 'master', unit({ dropins: [{ name: 'x.conf', contents: '2' }] })),
    /drop-in a\.service x\.conf$/,
  ],
  [
    'the kubelet of a pool',
    kubeletConfig('a', 'worker', { maxPods: 1 }),
    kubeletConfig('b', 'worker', { podPidsLimit: 1 }),
    /worker: the KubeletConfig$/,
  ],
  [
    'a setting of the kubelet, in its drop-in too',
    kubeletConfig('a', 'worker', { failSwapOn: true }),
    machineConfig('b', 'worker', file(DROP_IN, 'kind: KubeletConfiguration\nfailSwapOn: false\n')),
    /worker: kubelet failSwapOn$/,
  ],
  [
    'the same nodes',
    healthCheck('a', { matchLabels: { x: '' } }),
    healthCheck('b', { matchLabels: { x: '' } }),
    /fight over nodes/,
  ],
]

for (const [what, one, other, fight] of fights) {
  t.test(`sees a fight over ${what}`, async (t) => {
    t.match(fightsAmong([one, other]), [fight])
    t.same(fightsAmong([one]), [])
    t.same(fightsAmong([one, { ...one, metadata: { ...one.metadata } }]), [], 'the same twice')
  })
}

t.test('sees none between pools, or between different things', async (t) => {
  t.same(
    fightsAmong([
      machineConfig('a', 'worker', { kernelArguments: ['psi=1', 'quiet'] }),
      machineConfig('b', 'master', { kernelArguments: ['psi=0'] }),
      machineConfig('c', 'worker', { kernelArguments: ['iommu=pt'] }),
      kubeletConfig('d', 'worker', {}),
      kubeletConfig('e', 'master', {}),
      healthCheck('f', { matchLabels: { x: '' } }),
      healthCheck('g', { matchLabels: { y: '' } }),
    ]),
    [],
  )
})
