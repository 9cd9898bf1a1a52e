import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Files } from './flags.ts'
import { type Account, tokenFile } from './kubeconfig.ts'
import { isAlive, sweepAfter } from './processes.ts'

const PREFIX = 'virt-platform-autopilot-'

/** A folder for the data of one run. */
export interface DataDir {
  readonly path: string
  /** Deletes it, unless the caller chose it. */
  remove(): void
}

/** Makes the folder of this run: the one asked for, or one that goes when this process goes. */
export function createDataDir(asked?: string): DataDir {
  if (asked !== undefined) {
    mkdirSync(asked, { recursive: true, mode: 0o700 })
    return { path: asked, remove: () => undefined }
  }
  removeStale()
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  const forgetSweep = sweepAfter(path)
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 })
      forgetSweep()
    },
  }
}

/** Writes what an API server reads when it starts. */
export function writeFiles(files: Files, accounts: readonly Account[], auditPolicy?: object): void {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  writeSecret(files.serviceAccountKey, privateKey)
  writeSecret(files.serviceAccountPublicKey, publicKey)
  writeSecret(files.tokens, tokenFile(accounts))
  if (auditPolicy) writeSecret(files.auditPolicy, JSON.stringify(auditPolicy))
}

/** Writes a file that only its owner reads. */
export function writeSecret(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}

// A sweeper that was killed too, or a machine that went down, leaves its folder behind.
function removeStale(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) && Number.parseInt(name.slice(PREFIX.length), 10)
    if (!pid || isAlive(pid)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // Another user's: not ours to remove.
    }
  }
}
