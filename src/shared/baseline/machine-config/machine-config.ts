import { groupOf, type KubeObject } from '../../engine/json/object.ts'

const GROUP = 'machineconfiguration.openshift.io'

/** The label of a MachineConfig that says to which pool's nodes it belongs. */
export const ROLE_LABEL = `${GROUP}/role`

/** Whether the object is a MachineConfig of the Machine Config Operator, whatever its version. */
export const isMachineConfig = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>) =>
  kind === 'MachineConfig' && groupOf(apiVersion) === GROUP
