import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Scope } from '../cluster/harness/fixture.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONTAINERFILE = join(ROOT, 'tools/image/Containerfile')

/** The image's last stage, as far as there is one without a container engine. */
export interface AssembledImage {
  /** Stands for the root of its file system: Node and our files, and nothing else. */
  readonly root: string
  /** The folder of our files. */
  readonly app: string
  /** Node and the program. */
  readonly command: readonly [file: string, entry: string]
  /** Whom it runs as; undefined where only root could, and we are not. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
}

/** The instructions of each stage of the Containerfile, with their arguments. */
export const stages = () =>
  readFileSync(CONTAINERFILE, 'utf8')
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((stage) =>
      [...stage.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', args = '']) => ({ name, args })),
    )

/** What the last stage says of itself. */
export function lastStage() {
  const stage = stages().at(-1) ?? []
  const of = (wanted: string) => stage.find(({ name }) => name === wanted)?.args ?? ''
  const [uid, gid] = of('USER').split(':').map(Number)
  const [, from = '', to = ''] = /^--from=build (\S+) (\S+)$/.exec(of('COPY')) ?? []
  return { uid, gid, from, to, entrypoint: JSON.parse(of('ENTRYPOINT')) as readonly string[] }
}

/** Assembles the image from what a build is given of the clone, in a folder that goes with its scope. */
export function assembledImage(t: Pick<Scope, 'teardown'>): AssembledImage {
  const root = mkdtempSync(join(tmpdir(), 'autopilot-image-'))
  const context = mkdtempSync(join(tmpdir(), 'autopilot-context-'))
  t.teardown(async () => {
    for (const folder of [root, context]) rmSync(folder, { recursive: true })
  })
  copyContext(context)
  const { uid = 0, gid = 0, from, to, entrypoint } = lastStage()
  const app = join(root, to)
  // The line of the build stage that fills the folder.
  const { args = '' } = stages()[0]?.find(({ args }) => args.endsWith(` ${from}`)) ?? {}
  const [, script = ''] = args.split(' ')
  execFileSync(process.execPath, [script, app], { cwd: context, stdio: 'pipe' })
  const [node = '', entry = ''] = entrypoint.map((path) => join(root, path))
  mkdirSync(dirname(node), { recursive: true })
  copyFileSync(process.execPath, node)
  chmodSync(root, 0o755)
  const isRoot = process.getuid?.() === 0
  return { root, app, command: [node, entry], user: isRoot ? { uid, gid } : undefined }
}

/** Copies what the ignore file lets in; packages are the clone's own. */
function copyContext(context: string): void {
  const ignored = readFileSync(`${CONTAINERFILE}.dockerignore`, 'utf8')
  for (const [, path = ''] of ignored.matchAll(/^!(.*)$/gm))
    cpSync(join(ROOT, path), join(context, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'))
}
