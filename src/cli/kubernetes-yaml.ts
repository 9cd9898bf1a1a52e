import { stringify } from 'yaml'

/** An object as a YAML document that kubectl reads as it is meant. */
export const kubernetesYaml = (object: object) => stringify(object, FOR_KUBECTL)

// kubectl reads YAML 1.1, in which a plain `on` is a boolean.
const FOR_KUBECTL = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
