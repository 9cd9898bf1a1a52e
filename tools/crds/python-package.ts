import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { outputOf, type Place } from './command.ts'
import type { PythonPackage } from './lock.ts'

/** Downloads the source archive of a package, which pip compares with its sum, and gives its path. */
export async function downloadArchive(
  { package: name, version, sha256 }: PythonPackage,
  { cwd, signal }: Place,
): Promise<string> {
  const folder = join(cwd, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'requirements.txt'), `${name}==${version} --hash=sha256:${sha256}\n`)
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes']
  await outputOf(
    'python3',
    ['-m', 'pip', 'download', ...options, '--no-binary', name, '-r', 'requirements.txt'],
    { cwd: folder, signal },
  )
  const archive = readdirSync(folder).find((file) => file.endsWith('.tar.gz'))
  if (archive === undefined) throw new Error(`pip download ${name}: it left no .tar.gz`)
  return join(folder, archive)
}

/** A file in an archive. */
export const memberOf = (archive: string, path: string, place: Place): Promise<Buffer> =>
  outputOf('tar', ['-xzOf', archive, path], place)
