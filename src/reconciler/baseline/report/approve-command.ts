import { APPROVE } from '../../../shared/baseline/annotations.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'

/** The command by which an admin approves a set of changes. */
export const approveCommand = ({ metadata: { namespace, name } }: KubeObject, digest: string) =>
  `kubectl annotate hyperconverged -n ${namespace} ${name} --overwrite ${APPROVE}=${digest}`
