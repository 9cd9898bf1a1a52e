import { stringify } from 'yaml'

import { accounts } from '../shared/catalog/rbac.ts'
import { loadOwnCatalog } from './assets.ts'

/** The `rbac` command: prints what both processes may do, ready for kubectl apply. */
export function rbac({ namespace }: { readonly namespace: string }): void {
  const documents = accounts(loadOwnCatalog(), namespace).map((object) =>
    stringify(object, KUBERNETES),
  )
  process.stdout.write(documents.join('---\n'))
}

// kubectl reads YAML 1.1, in which a plain `on` is a boolean.
const KUBERNETES = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
