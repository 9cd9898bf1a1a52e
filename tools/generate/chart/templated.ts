import { kubernetesYaml } from '../../../src/cli/render/formats.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'

// Sorts behind all others, so that lists are in the order that they have anywhere.
const PREFIX = 'zz-chart-'

/** A name that only the chart knows: what stands for it while objects are made, and the expression of helm's that it is then. */
export interface Unknown {
  readonly placeholder: string
  readonly expression: string
}

/** The namespace of the release. */
export const RELEASE: Unknown = {
  placeholder: `${PREFIX}release`,
  expression: '.Release.Namespace',
}

/** The namespace of the system `graph`. */
export const OF_GRAPH: Unknown = {
  placeholder: `${PREFIX}graph`,
  expression: '$.Values.systems.graph.namespace',
}

/** An item of the list that a template goes through. */
export const ITEM: Unknown = { placeholder: `${PREFIX}item`, expression: '.' }

/** Objects as the text of a template. */
export const templated = (objects: readonly object[]): string =>
  [RELEASE, OF_GRAPH, ITEM].reduce(
    (text, { placeholder, expression }) =>
      text
        // Alone it may look like a number, and is a text all the same.
        .replaceAll(
          new RegExp(`(?<=^ *(- |(- )?[\\w.-]+: ))${placeholder}$`, 'gm'),
          `{{ ${expression} | quote }}`,
        )
        .replaceAll(placeholder, `{{ ${expression} }}`),
    objects.map(kubernetesYaml).join('---\n').replaceAll('{{', '{{ "{{" }}'),
  )

/** Objects as hooks of helm's: made before their Job, and gone with it. */
export const hookAt =
  (events: string) =>
  ({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject => {
    const annotations = {
      'helm.sh/hook': events,
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    }
    return { apiVersion, kind, metadata: { ...metadata, annotations }, ...rest }
  }
