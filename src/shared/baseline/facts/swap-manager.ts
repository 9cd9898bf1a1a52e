import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import { AUTOPILOT } from '../annotations.ts'

/** Whether wasp-agent manages the swap of nodes, or is about to: two that manage swap disagree on who may use how much. */
export const hasForeignSwapManager = (
  hco: KubeObject,
  waspAgents: readonly KubeObject[],
): boolean => waspAgents.length > 0 || (isOvercommitted(hco) && !isExempt(hco))

const FIELD = ['higherWorkloadDensity', 'memoryOvercommitPercentage']

// v1 and v1beta1 have it in different places.
const isOvercommitted = ({ spec }: KubeObject) =>
  [FIELD, ['virtualization', ...FIELD]].some((tokens) => Number(valueAt(spec, tokens)) > 100)

/** Whether the operator leaves swap to an autopilot: from 1.18 on, read as it reads the annotation, which knows no groups. */
function isExempt(hco: KubeObject): boolean {
  const text = (hco.metadata.annotations?.[AUTOPILOT] ?? '').trim()
  const names = text.split(',').map((name) => name.trim())
  return knowsAutopilots(hco) && (text === 'true' || names.includes('swap-enable'))
}

/** An operator of which no version is known is taken for an older one. */
function knowsAutopilots({ status }: KubeObject): boolean {
  const versions = valueAt(status, ['versions'])
  const own = Array.isArray(versions)
    ? versions.find((one) => isMap(one) && one.name === 'operator')
    : undefined
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(String(valueAt(own, ['version']))) ?? []
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 18)
}
