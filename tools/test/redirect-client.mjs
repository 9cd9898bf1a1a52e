// Has a process import the Kubernetes client from its bundle, which is made before.
import { registerHooks } from 'node:module'

const url = new URL('../../node_modules/.cache/client-node/client-node.js', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@kubernetes/client-node'
      ? { url, format: 'module', shortCircuit: true }
      : next(specifier, context),
})
