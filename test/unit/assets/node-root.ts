import type { Test } from 'tap'

/** What is at a path: a text, an empty folder, or a link made by `link`. */
export type Content = string | Record<string, never> | ReturnType<typeof link>

type Folder = Map<string, Content | Folder>

/** A folder that stands for a node's root, with what is at each path. */
export function nodeRoot(t: Test, files: Readonly<Record<string, Content>>): string {
  const root: Folder = new Map()
  for (const [path, content] of Object.entries(files)) {
    const names = path.split('/')
    const last = names.pop() ?? ''
    names.reduce(folderIn, root).set(last, content)
  }
  return t.testdir(plain(root))
}

/** A symbolic link at a path of a node's root to another path of it. */
export const link = (t: Test, path: string, target: string) =>
  t.fixture('symlink', `${'../'.repeat(path.split('/').length - 1)}${target}`)

function folderIn(folder: Folder, name: string): Folder {
  const found = folder.get(name)
  if (found instanceof Map) return found
  const made: Folder = new Map()
  folder.set(name, made)
  return made
}

type Plain = { [name: string]: Content | Plain }

const plain = (folder: Folder): Plain =>
  Object.fromEntries(
    [...folder].map(([name, content]) => [name, content instanceof Map ? plain(content) : content]),
  )
