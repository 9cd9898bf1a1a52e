// The pure code, all of which `npm run coverage` wants covered by unit tests.
import { globSync } from 'node:fs'

const pure = globSync('src/shared/{engine,graph-engine,baseline}/**/*.ts')
export default () => pure
