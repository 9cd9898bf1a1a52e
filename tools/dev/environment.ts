import { join } from 'node:path'

import type { Env } from '../../src/shared/ops/env.ts'

/** Where the product lives on a cluster to try things on. */
export const DEV_NAMESPACE = 'virt-platform-autopilot'

/** The program that is run, from its sources. */
export const ENTRY = join(import.meta.dirname, '../../src/cli/main.ts')

/** Tells the person at the terminal one line. */
export type Print = (line: string) => void

// What Node and TLS need of our environment; tokens and the like in it are none of the children's business.
const INHERITED = [
  'PATH',
  'HOME',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'HTTPS_PROXY',
  'NO_PROXY',
  'TMPDIR',
]

export const childEnvironment = (env: Env): Record<string, string> =>
  Object.fromEntries(
    INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name] ?? '']])),
  )
