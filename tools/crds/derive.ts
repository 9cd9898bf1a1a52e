import { createHash } from 'node:crypto'
import { stringify } from 'yaml'

import { decode } from './decode.ts'
import { type Generated, nameOf, type Published, type Source } from './lock.ts'
import { overlaid } from './overlay.ts'
import { type Crd, strip } from './strip.ts'

/** Where the files that definitions are derived from are had. */
export interface Originals {
  /** The file that a definition is in. */
  read(definition: Published): Promise<Uint8Array>
  /** What controller-gen makes of the Go types. */
  generate(definition: Generated): Promise<Uint8Array>
}

/** The text of the file that a definition has here; throws where the original is not what the lock says. */
export async function derive(
  definition: Published,
  source: Source,
  originals: Originals,
): Promise<string> {
  const { path, sha256, overlay = [] } = definition
  const content = await originals.read(definition)
  const sum = createHash('sha256').update(content).digest('hex')
  if (sum !== sha256)
    throw new Error(
      `${path} has the SHA-256 ${sum}: the lock says ${sha256}: compare, then correct it`,
    )
  const made =
    definition.format === 'controller-gen' ? await originals.generate(definition) : content
  const published: unknown = decode(definition, made)
  const crd = overlay.reduce(overlaid, published) as Crd
  requireAsLocked(definition, crd)
  const body = stringify(strip(crd), { lineWidth: 0, aliasDuplicateObjects: false })
  const { version, licence } = source
  return `# From ${nameOf(source)} ${version} (${licence}), ${path}\n# Changed, as ../README.md says, by \`npm run crds\`: do not edit.\n${body}`
}

/** Throws where a definition has another kind or other versions than the lock says. */
export function requireAsLocked(
  { kind, served, storage }: Pick<Published, 'kind' | 'served' | 'storage'>,
  { spec: { names, versions } }: Pick<Crd, 'spec'>,
): void {
  const namesOf = (member: 'served' | 'storage') =>
    versions.filter((version) => version[member]).map(({ name }) => name)
  const found = {
    kind: names.kind,
    served: `${namesOf('served')}`,
    storage: `${namesOf('storage')}`,
  }
  const wanted = { kind, served: `${served}`, storage }
  for (const field of ['kind', 'served', 'storage'] as const)
    if (found[field] !== wanted[field])
      throw new Error(
        `${field} is ${found[field]}: the lock says ${wanted[field]}: compare, then correct it`,
      )
}
