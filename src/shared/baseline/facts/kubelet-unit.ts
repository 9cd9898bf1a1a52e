import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'

/** Where the settings of a kubelet are that go with a MachineConfig of ours. */
export const KUBELET_FOLDER = '/etc/openshift/kubelet.conf.d'

/** Whether a pool's kubelets start with the folder of settings, by the MachineConfig of their unit; enable-swap.py looks at the same. */
export const readsDropIns = (machineConfig: KubeObject | undefined): boolean =>
  textsOf(machineConfig).some((text) => CONFIG_DIR.test(text))

const CONFIG_DIR = new RegExp(
  `^[^#;\\n]*--config-dir[= \\t]+["']?${KUBELET_FOLDER.replaceAll('.', '\\.')}/*["']?(?=\\s|$)`,
  'm',
)

const UNITS = ['spec', 'config', 'systemd', 'units']

function textsOf(machineConfig: KubeObject | undefined): readonly string[] {
  const unit = listAt(machineConfig, UNITS).find(({ name }) => name === 'kubelet.service')
  const parts = unit ? [unit, ...listAt(unit, ['dropins'])] : []
  return parts.map(({ contents }) => String(contents ?? ''))
}

const listAt = (value: unknown, tokens: readonly string[]) => {
  const list = valueAt(value, tokens)
  return Array.isArray(list) ? list.filter(isMap) : []
}

/** Of such a MachineConfig only the unit; the rest of it is long. */
export const kubeletUnitOf = (machineConfig: KubeObject): KubeObject => {
  const { apiVersion, kind, metadata } = machineConfig
  const units = listAt(machineConfig, UNITS).filter(({ name }) => name === 'kubelet.service')
  const spec = { config: { systemd: { units } } }
  return { apiVersion, kind, metadata: { name: metadata.name }, spec }
}
