import t from 'tap'
import { describeCondition } from '../../../src/shared/baseline/facts/conditions.ts'
import { featuresFile } from '../../../tools/generate/features.ts'
import { catalog } from '../baseline/facts.ts'

interface Feature {
  readonly name: string
  readonly assets: readonly { readonly name: string; readonly conditions: readonly string[] }[]
}

const { features } = JSON.parse(featuresFile(catalog)) as { readonly features: readonly Feature[] }
const conditionsOf = (feature: string, asset: string) =>
  features.find(({ name }) => name === feature)?.assets.find(({ name }) => name === asset)
    ?.conditions

t.test('each asset is told with its own conditions, not with those of its twin', async (t) => {
  for (const { name, template, install, conditions, isTombstone } of catalog) {
    if (isTombstone) continue
    const alike = catalog.filter((asset) => asset.template === template)
    const first = alike.find((asset) => asset.install === install)?.name ?? ''
    t.same(conditionsOf(first, name), conditions.map(describeCondition), name)
  }
  t.ok(
    conditionsOf('pci-passthrough', 'pci-passthrough-master')?.includes(
      'the topology is schedulableMasters=true',
    ),
  )
})

t.test('a section needs what its asset does, and more', async (t) => {
  const feature = 'kubelet-perf-settings: cpu-manager'
  t.same(conditionsOf(feature, 'kubelet-perf-settings-master'), [
    'the topology is schedulableMasters=true',
    'no KubeletConfig but ours selects the pool master: they are not merged, and the newest wins',
    'the topology is hostedControlPlane=false',
    'the HyperConverged is annotated platform.kubevirt.io/enable-cpu-manager=true, or has the feature gate CPUManager on',
  ])
})
