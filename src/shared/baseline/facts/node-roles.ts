import type { Labels } from './label-selector.ts'

/** What the label of a node's role begins with. */
export const ROLE = 'node-role.kubernetes.io/'

/** Whether a node with these labels is of the control plane. */
export const isMaster = (labels: Labels) =>
  `${ROLE}master` in labels || `${ROLE}control-plane` in labels
