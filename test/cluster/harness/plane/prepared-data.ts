import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { startControlPlane } from '../../../../tools/control-plane/control-plane.ts'
import { definedBy, install, type TypeMeta } from '../../../../tools/control-plane/install.ts'
import type { Binaries } from '../../../../tools/go-programs/binaries.ts'
import { withLock } from '../../../../tools/go-programs/lock.ts'
import { manifestsOf } from '../manifests.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const CACHE = join(ROOT, 'node_modules/.cache/etcd')

/** What a cluster starts with. */
export interface PreparedData {
  /** The data folder of an etcd. */
  readonly etcdData: string
  /** The custom kinds in it. */
  readonly types: readonly TypeMeta[]
}

/**
 * The data of an API server that has started once, with nothing of ours in it, or with the default definitions and samples
 * installed. It is made once, and each cluster starts with a copy: to bootstrap and install anew takes the API server twice as long.
 */
export async function preparedData(
  sort: 'empty' | 'installed',
  binaries: Binaries,
  print: (line: string) => void,
): Promise<PreparedData> {
  const cache = join(CACHE, keyOf(binaries))
  const folder = join(cache, sort)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    const waiting = (released: Promise<void>) => released
    await withLock(`${folder}.lock`, waiting, async () => {
      if (!existsSync(folder)) await prepare(sort, folder, binaries, print)
    })
  }
  const types = JSON.parse(readFileSync(join(folder, 'types.json'), 'utf8')) as TypeMeta[]
  return { etcdData: join(folder, 'etcd'), types }
}

async function prepare(
  sort: 'empty' | 'installed',
  folder: string,
  binaries: Binaries,
  print: (line: string) => void,
): Promise<void> {
  for (const other of readdirSync(CACHE))
    if (!folder.startsWith(join(CACHE, other))) rmSync(join(CACHE, other), { recursive: true })
  const manifests = sort === 'installed' ? manifestsOf({}) : []
  const dataDir = mkdtempSync(`${folder}.making-`)
  const plane = await startControlPlane({ binaries, dataDir, print })
  try {
    await install(plane, manifests)
  } finally {
    await plane.stop()
  }
  // The next log segment, which etcd has laid out ahead: half of what each cluster copies, and empty.
  for (const file of globSync('etcd/member/wal/*.tmp', { cwd: dataDir }))
    rmSync(join(dataDir, file))
  writeFileSync(join(dataDir, 'types.json'), JSON.stringify(definedBy(manifests)))
  renameSync(dataDir, folder)
}

// All that decides what is in it.
function keyOf({ apiserver, version }: Binaries): string {
  const hash = createHash('sha256').update(`${apiserver} ${version}`)
  const files = [
    'test/crds/**/*.yaml',
    'test/samples/**/*.yaml',
    'tools/control-plane/*.ts',
    'src/shared/{api,graph}/*.ts',
  ]
  for (const file of globSync(files, { cwd: ROOT }).sort())
    hash.update(file).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}
