import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Loose } from '../../harness/autopilot-fixture.ts'
import type { Scope } from '../../harness/fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, SWAP } from '../../harness/objects.ts'
import { type CatalogText, configMap, type Program, programWith } from '../../harness/program.ts'

/** A managed object, as a path of the API and as kubectl is told of it. */
export interface Subject {
  readonly path: string
  readonly kind: string
  readonly target: readonly string[]
}

/** Changes an object in place. */
export type Edit = (object: Loose) => void

/** A copy of the object, edited. */
export function edited(object: KubeObject, edit: Edit = () => undefined): KubeObject {
  const copy = structuredClone(object)
  edit(copy)
  return copy
}

const aConfigMap = (name: string): Subject => ({
  path: `/api/v1/namespaces/default/configmaps/${name}`,
  kind: 'ConfigMap',
  target: ['configmap', '-n', 'default', name],
})

/** A HyperConverged, of which only some fields are ours. */
export const hyperConverged: Subject = { path: HCO, kind: 'HyperConverged', target: HYPERCONVERGED }
/** A custom resource whose edits are corrected. */
export const healthCheck: Subject = {
  path: HEALTH_CHECK,
  kind: 'NodeHealthCheck',
  target: ['nodehealthcheck', 'virt-node-health-check'],
}
/** A custom resource of a sensitive kind, whose change reboots nodes. */
export const swap: Subject = {
  path: SWAP,
  kind: 'MachineConfig',
  target: ['machineconfig', '90-worker-swap-online'],
}
/** A built-in kind whose edits are corrected. */
export const corrected = aConfigMap('corrected')
/** A built-in kind whose edits are denied, because its asset says so. */
export const refused = aConfigMap('refused')

export const SUBJECTS: readonly Subject[] = [hyperConverged, healthCheck, swap, corrected, refused]

const asset = (name: string, more: object = {}) => ({
  name,
  group: 'verdicts',
  description: 'a test needs it',
  template: 'active/verdicts.yaml.ejs',
  object: configMap(name),
  install: 'always',
  order: 90,
  ...more,
})

/** The program with the shipped catalog, and beside it two objects of a built-in kind. */
export const verdictProgram = (t: Pick<Scope, 'teardown'>): Program =>
  programWith(t, {
    change: ({ assets }: CatalogText) => ({
      assets: [...assets, asset('corrected'), asset('refused', { enforcement: 'deny' })],
    }),
    files: {
      'active/verdicts.yaml.ejs': `apiVersion: v1
kind: ConfigMap
metadata: { name: <%= object.name %>, namespace: <%= object.namespace %> }
data: { value: kept }
`,
    },
  })
