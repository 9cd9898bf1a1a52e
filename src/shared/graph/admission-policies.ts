import { accountUser, CLEANERS } from '../engine/identity.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { DEFAULT_ACCOUNT, GRAPH, GROUP } from './names.ts'
import { RESOURCE_GRAPH } from './resource-graph.ts'
import { TRANSFORM } from './transform.ts'

/** What the API server itself refuses, whether or not our webhook is there: who gets by it would act by rights that are not theirs. */
export const admissionPolicies = (namespace: string): readonly KubeObject[] => [
  ...bound(`${GRAPH.name}-accounts`, ACCOUNTS),
  ...bound(
    `${GRAPH.name}-resourcegraphs`,
    ownGraphs(accountUser(namespace, GRAPH.reconcilerAccount)),
  ),
]

const API_VERSION = 'admissionregistration.k8s.io/v1'

const bound = (name: string, spec: object): readonly KubeObject[] => [
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { failurePolicy: 'Fail', ...spec },
  },
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
]

const constraints = (resources: readonly string[], operations: readonly string[]) => ({
  resourceRules: [{ apiGroups: [GROUP], apiVersions: ['*'], operations, resources }],
})

const ACCOUNT = 'object.spec.serviceAccountName'

/** Whoever changes a Transform has it act by an account: for another one than the default he must have the right to use that. */
const ACCOUNTS = {
  matchConstraints: constraints([TRANSFORM.plural], ['CREATE', 'UPDATE']),
  matchConditions: [
    {
      name: 'names-an-account',
      expression: `has(${ACCOUNT}) && ${ACCOUNT} != "${DEFAULT_ACCOUNT}"`,
    },
    { name: 'spec-changed', expression: 'oldObject == null || object.spec != oldObject.spec' },
  ],
  validations: [
    {
      expression: `authorizer.group("").resource("serviceaccounts").namespace(request.namespace).name(${ACCOUNT}).check("use").allowed()`,
      messageExpression: `"you may not use the ServiceAccount " + request.namespace + "/" + ${ACCOUNT} + ": leave spec.serviceAccountName out, or have an administrator give you a Role in " + request.namespace + " with the verb use, the resource serviceaccounts and the resourceName " + ${ACCOUNT}`,
      reason: 'Forbidden',
    },
  ],
}

const OBJECT = '(oldObject != null ? oldObject : object)'
const TITLE = `request.namespace + "/" + ${OBJECT}.metadata.name`
const OWNERS = (object: string) =>
  `(has(${object}.metadata.ownerReferences) ? ${object}.metadata.ownerReferences : [])`

/** What a ResourceGraph says is applied, and deleted: only who wrote it may. An owner that somebody makes up would have it collected. */
const ownGraphs = (reconciler: string) => ({
  matchConstraints: constraints(
    [RESOURCE_GRAPH.plural, `${RESOURCE_GRAPH.plural}/status`],
    ['CREATE', 'UPDATE', 'DELETE'],
  ),
  matchConditions: [
    {
      name: 'not-ours',
      expression: `request.userInfo.username != "${reconciler}" && !(has(request.userInfo.groups) && "system:masters" in request.userInfo.groups)`,
    },
  ],
  variables: [
    {
      name: 'isCleaner',
      expression: `request.userInfo.username in ${JSON.stringify(CLEANERS)}`,
    },
    {
      name: 'isMetadataOnly',
      expression: `request.operation == "UPDATE" && !(has(request.subResource) && request.subResource == "status") && object.spec == oldObject.spec`,
    },
  ],
  validations: [
    {
      expression: `request.operation == "DELETE" ? variables.isCleaner : variables.isMetadataOnly && (variables.isCleaner || ${OWNERS('object')} == ${OWNERS('oldObject')})`,
      messageExpression: `"ResourceGraph " + ${TITLE} + " is written by the autopilot alone, from Transform " + ${TITLE} + ": " + (request.operation == "DELETE" ? "delete" : "edit") + " that instead: kubectl " + (request.operation == "DELETE" ? "delete" : "edit") + " transform " + ${OBJECT}.metadata.name + " -n " + request.namespace`,
      reason: 'Forbidden',
    },
  ],
})
