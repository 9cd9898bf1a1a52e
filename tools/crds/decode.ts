import { parse, parseAllDocuments } from 'yaml'
import type { JsonMap } from '../../src/shared/engine/json/object.ts'
import { groupOf } from '../control-plane/definitions.ts'
import type { Published, Skeleton } from './lock.ts'
import { publishedSchema } from './published-schema.ts'
import type { Crd } from './strip.ts'

/** The definition in a file, as it was published; throws where it is not in it. */
export function decode(definition: Published, content: Uint8Array): Crd {
  switch (definition.format) {
    case 'yaml':
    case 'controller-gen':
      return documentNamed(definition.name, String(content))
    case 'go-embed':
      return documentNamed(definition.name, goString(String(content), definition.key))
    case 'go-schema': {
      const { openAPIV3Schema } = parse(goString(String(content), definition.key))
      return framed(definition, definition.skeleton, () => openAPIV3Schema)
    }
    case 'openapi': {
      const { kind, skeleton } = definition
      const group = groupOf(definition)
      return framed(definition, skeleton, (version) =>
        publishedSchema(content, { group, version, kind }),
      )
    }
  }
}

function documentNamed(name: string, text: string): Crd {
  const documents = parseAllDocuments(text).map((document) => document.toJS())
  const found = documents.find((document) => document?.metadata?.name === name)
  if (!found) throw new Error(`the file has no definition of that name`)
  return found
}

// `"key": ` and a raw string; for a backquote Go has to leave the string, and comes back.
function goString(source: string, key: string): string {
  const text = source.replaceAll('` + "`" + `', BACKQUOTE)
  const opening = `"${key}": \``
  const start = text.indexOf(opening)
  if (start < 0) throw new Error(`the file has no Go string at "${key}"`)
  const from = start + opening.length
  return text.slice(from, text.indexOf('`', from)).replaceAll(BACKQUOTE, '`')
}

const BACKQUOTE = '\0'

function framed(
  { name, kind, served, storage }: Published,
  { scope, shortNames, categories, hasStatus }: Skeleton,
  schemaOf: (version: string) => JsonMap,
): Crd {
  const group = groupOf({ name })
  const plural = name.slice(0, -group.length - 1)
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope,
      names: { ...names, ...(shortNames && { shortNames }), ...(categories && { categories }) },
      versions: served.map((version) => ({
        name: version,
        served: true,
        storage: version === storage,
        ...(hasStatus && { subresources: { status: {} } }),
        schema: { openAPIV3Schema: schemaOf(version) },
      })),
    },
  }
}
