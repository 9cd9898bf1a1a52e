import { definitionOf } from '../../shared/api/custom-resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { admissionPolicies } from '../../shared/graph/admission-policies.ts'
import { RESOURCE_GRAPH } from '../../shared/graph/resource-graph.ts'
import { enrolment, isEnrollable, userRoles } from '../../shared/graph/roles.ts'
import { TRANSFORM } from '../../shared/graph/transform.ts'
import { kubernetesYaml } from '../render/formats.ts'
import { UsageError } from '../run-cli.ts'

const print = (objects: readonly KubeObject[]) => {
  process.stdout.write(objects.map(kubernetesYaml).join('---\n'))
}

/** The `crds` command. */
export const crds = (own: string) =>
  print([
    ...[TRANSFORM, RESOURCE_GRAPH].map(definitionOf),
    ...admissionPolicies(own),
    ...userRoles(),
  ])

/** The `enroll` command. */
export function enroll(namespace: string, own: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace))
    throw new UsageError(`"${namespace}" is no name of a namespace`)
  if (!isEnrollable(namespace, own))
    throw new UsageError(
      `${namespace} is not enrolled: whoever may write a Transform there would act by the accounts of the platform`,
    )
  print(enrolment(namespace, own))
}
