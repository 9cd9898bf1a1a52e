import type { KubeObject } from '../../engine/json/object.ts'
import { AUTOPILOT } from '../annotations.ts'
import { annotateCommand } from '../kubectl.ts'
import { BASELINE } from '../names.ts'

/** What the Go product is doing, which comes with the HyperConverged's operator: only where it is active two would write the same objects. */
export type OtherAutopilot = 'absent' | 'idle' | 'active'

/** What another autopilot does beside a HyperConverged with this text of `autopilot`, if it has any. */
export const otherBeside = (isThere: boolean, autopilot: string | undefined): OtherAutopilot =>
  isThere ? (isAwakeBy(autopilot) ? 'active' : 'idle') : 'absent'

/** Whether a Deployment of another autopilot has anything to run. */
export const isToRun = (deployment: KubeObject | undefined): boolean =>
  deployment !== undefined &&
  (deployment.spec as { replicas?: unknown } | undefined)?.replicas !== 0

// Read as that product reads it, which knows neither our errors nor our observing: there, every name is that of an asset.
const isAwakeBy = (autopilot = '') =>
  autopilot.trim() !== 'false' && autopilot.split(',').some((name) => name.trim() !== '')

type Hco = Pick<KubeObject, 'metadata'>

/** Who that is, and what it does to us; a sentence. */
export const tellOther = ({ metadata: { namespace } }: Hco) =>
  `the Deployment ${namespace}/${BASELINE.name} is another autopilot, which ${AUTOPILOT} wakes: while it is active, this one writes and corrects nothing`

/** What an admin does to have us keep everything; a sentence. */
export const tellHowAlone = ({ metadata }: Hco) =>
  `to have this one keep everything, and that one be idle: ${annotateCommand({ kind: 'HyperConverged', metadata }, AUTOPILOT)}`
