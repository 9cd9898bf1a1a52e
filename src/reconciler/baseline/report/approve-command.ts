import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { APPROVE } from '../../../shared/engine/overrides/annotations.ts'
import { annotateCommand } from '../../../shared/engine/overrides/kubectl.ts'

/** The command by which an admin approves a set of changes. */
export const approveCommand = ({ metadata }: KubeObject, digest: string) =>
  annotateCommand({ kind: 'HyperConverged', metadata }, APPROVE, digest)
