import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { APPROVE } from '../../../shared/engine/overrides/annotations.ts'

/** The command by which an admin approves a set of changes. */
export const approveCommand = ({ metadata: { namespace, name } }: KubeObject, digest: string) =>
  `kubectl annotate hyperconverged -n ${namespace} ${name} --overwrite ${APPROVE}=${digest}`
