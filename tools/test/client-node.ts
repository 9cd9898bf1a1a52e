// What is bundled of the Kubernetes client for the tests: all that we import of it.
export { KubeConfig } from '@kubernetes/client-node'
