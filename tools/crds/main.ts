// Derives the CustomResourceDefinitions of test/crds from the packages that its lock file names.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCatalogWith } from '../../src/cli/assets.ts'
import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { fileOf, LOCK_FILE } from '../control-plane/definitions.ts'
import { judgeValues } from './defaults/judge.ts'
import { reportOnValues } from './defaults/report.ts'
import { SUMS_FILE } from './go-module.ts'
import { isPublished } from './lock.ts'
import { createOriginals } from './originals.ts'
import { readLock } from './read-lock.ts'
import { renew } from './renew.ts'
import { type Renewed, type Report, reportOn } from './report.ts'

const DEFAULT_FOLDER = join(import.meta.dirname, '../../test/crds')

const HELP = `\
Derives the CustomResourceDefinitions of test/crds from the packages that crds.lock.yaml there names: each file is
compared with its checksum, changed as the lock says, stripped and written. Needs Go, and python3 with pip and tar.
Then compares each value that our assets set with the default that each definition has for it.

  npm run crds                      writes what differs; what could not be had stays as it is
  npm run crds -- --verify          writes nothing, and names each file that differs
  npm run crds -- --folder FOLDER   of another folder with a crds.lock.yaml and a crds.go.sum; compares no values

Ends with 1 where a file differs (--verify), an original could not be had, or a value of ours is an older release's default.
`

const { folder, verify } = readCommandLine(process.argv.slice(2))
const signal = signalOnTermination()
const scratch = mkdtempSync(join(tmpdir(), 'crds-'))
try {
  const renewed = reportOn(await renewAll())
  if (signal.aborted) throw new Error('interrupted')
  const reports = [renewed, ...(folder === DEFAULT_FOLDER ? [reportOnOurs()] : [])]
  for (const line of reports.flatMap(({ lines }) => lines)) console.log(line)
  process.exitCode = reports.some(({ isFailure }) => isFailure) ? 1 : 0
} catch (error) {
  console.error(`crds: ${(error as Error).message}`)
  process.exitCode = signal.aborted ? 130 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function renewAll(): Promise<readonly Renewed[]> {
  const lock = readLock(folder)
  const originals = createOriginals(lock, {
    folder,
    scratch: { cwd: scratch, signal },
    print: (line) => console.error(line),
  })
  const renewed: Renewed[] = []
  for (const definition of lock.definitions.filter(isPublished)) {
    if (signal.aborted) break
    const outcome = await renew(definition, { lock, folder, verify, originals })
    renewed.push({ file: fileOf(definition), outcome })
  }
  return renewed
}

function reportOnOurs(): Report {
  return reportOnValues(judgeValues(loadCatalogWith({ namespace: 'virt-platform-autopilot' })))
}

function readCommandLine(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean' },
        verify: { type: 'boolean', default: false },
        folder: { type: 'string', default: DEFAULT_FOLDER },
      },
    })
    if (values.help) {
      console.log(HELP)
      process.exit(0)
    }
    const { folder, verify } = values
    const missing = [LOCK_FILE, SUMS_FILE].find((file) => !existsSync(join(folder, file)))
    if (missing) throw new Error(`--folder ${folder} has no ${missing}: name a folder that has one`)
    return { folder, verify }
  } catch (error) {
    console.error(`crds: ${(error as Error).message}`)
    process.exit(2)
  }
}
