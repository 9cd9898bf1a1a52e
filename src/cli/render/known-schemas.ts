import type { KindSchema } from '../../shared/cluster/schemas.ts'
import { isMap } from '../../shared/engine/json/object.ts'
import { readOwnAsset } from '../assets.ts'

/** The schemas of the kinds that come with the program, by `apiVersion/Kind`: where there is no cluster to ask. */
export function knownSchemas(): ReadonlyMap<string, KindSchema> {
  const content = JSON.parse(readOwnAsset('schemas.json')) as Record<string, KindSchema | string>
  return new Map(
    Object.entries(content).flatMap(([key, schema]) =>
      isMap(schema) ? [[key, schema as KindSchema] as const] : [],
    ),
  )
}
