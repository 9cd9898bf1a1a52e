// The code that talks to the API server, which the cluster tests cover: tools/cluster-coverage.mjs says how much.
import { globSync } from 'node:fs'

export const FOLDERS = ['src/shared/cluster', 'src/webhook', 'src/reconciler']

const covered = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`))
export default () => covered
