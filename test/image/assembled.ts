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
import { basename, dirname, join } from 'node:path'
import type { Scope } from '../cluster/harness/fixture.ts'
import { environment } from '../cluster/harness/fixture.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONTAINERFILE = join(ROOT, 'tools/image/Containerfile')

/** Which of the images. */
export type Target = 'baseline' | 'graph'

/** The stage of an image, as far as there is one without a container engine. */
export interface AssembledImage {
  /** Stands for the root of its file system: Node and our files, and nothing else. */
  readonly root: string
  /** The folder of our files. */
  readonly app: string
  /** Node and the program. */
  readonly command: readonly [file: string, entry: string]
  /** The variables of its processes. */
  readonly env: Readonly<Record<string, string>>
  /** Whom it runs as; undefined where only root could, and we are not. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
}

interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly { readonly name: string; readonly args: string }[]
}

/** The stages of the Containerfile, each with its instructions and their arguments. */
export const stages = (): readonly Stage[] =>
  readFileSync(CONTAINERFILE, 'utf8')
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((stage) => {
      const [, from = '', name = ''] = /^FROM (.*?)(?: AS (\S+))?$/m.exec(stage) ?? []
      const all = stage.matchAll(/^([A-Z]+) (.*)$/gm)
      const instructions = [...all].map(([, name = '', args = '']) => ({ name, args }))
      return { name, from, instructions: instructions.slice(1) }
    })

/** The instructions of a stage, after those of the stage that it goes on from. */
export function instructionsOf(name: string): Stage['instructions'] {
  const { from = '', instructions = [] } = stages().find((stage) => stage.name === name) ?? {}
  const isStage = stages().some((stage) => stage.name === from)
  return [...(isStage ? instructionsOf(from) : []), ...instructions]
}

/** What an image says of itself. */
export function imageOf(target: Target) {
  const instructions = instructionsOf(target)
  const all = (wanted: string) =>
    instructions.filter(({ name }) => name === wanted).map(({ args }) => args)
  const [uid, gid] = (all('USER')[0] ?? '').split(':').map(Number)
  const [, stage = '', from = '', to = ''] =
    /^--from=(\S+) (\S+) (\S+)$/.exec(all('COPY')[0] ?? '') ?? []
  return {
    ...{ uid, gid, stage, from, to },
    env: all('ENV').map((text) => text.split('=')),
    entrypoint: JSON.parse(all('ENTRYPOINT')[0] ?? '') as readonly string[],
  }
}

/** Assembles an image from what a build is given of the clone, in a folder that goes with its scope. */
export function assembledImage(
  t: Pick<Scope, 'teardown'>,
  target: Target = 'baseline',
): AssembledImage {
  const root = mkdtempSync(join(tmpdir(), 'autopilot-image-'))
  const context = mkdtempSync(join(tmpdir(), 'autopilot-context-'))
  t.teardown(async () => {
    for (const folder of [root, context]) rmSync(folder, { recursive: true })
  })
  copyContext(context)
  const { uid = 0, gid = 0, stage, from, to, env, entrypoint } = imageOf(target)
  const app = join(root, to)
  // The line of its stage that fills the folder, and what that has from the evaluator's.
  const instructions = instructionsOf(stage)
  const { args = '' } = instructions.find(({ args }) => args.includes(` ${from}`)) ?? {}
  const [, script = '', , evaluator] = args.split(' ')
  const built = evaluator === undefined ? [] : [buildEvaluator(context)]
  execFileSync(process.execPath, [script, app, ...built], { cwd: context, stdio: 'pipe' })
  const [node = '', entry = ''] = entrypoint.map((path) => join(root, path))
  mkdirSync(dirname(node), { recursive: true })
  copyFileSync(process.execPath, node)
  chmodSync(root, 0o755)
  const isRoot = process.getuid?.() === 0
  const inRoot = (value: string) => (value.startsWith('/') ? join(root, value) : value)
  return {
    root,
    app,
    command: [node, entry],
    env: Object.fromEntries(env.map(([name = '', value = '']) => [name, inRoot(value)])),
    user: isRoot ? { uid, gid } : undefined,
  }
}

/** Does what the evaluator's stage does, for this machine; gives the folder that the next stage copies. */
function buildEvaluator(context: string): string {
  const cwd = join(context, 'tools/go/cue-evaluator')
  const { PATH = '', HOME = '' } = environment()
  for (const { name, args } of instructionsOf('evaluator'))
    if (name === 'RUN')
      execFileSync('/bin/sh', ['-ec', args], { cwd, env: { PATH, HOME }, stdio: 'pipe' })
  const copies = instructionsOf('graph-build').map(({ args }) => args)
  const [, out = ''] = /--from=evaluator (\S+) /.exec(copies.join('\n')) ?? []
  return join(cwd, basename(out))
}

/** Copies what the ignore file lets in; packages are the clone's own. */
function copyContext(context: string): void {
  const ignored = readFileSync(`${CONTAINERFILE}.dockerignore`, 'utf8')
  for (const [, path = ''] of ignored.matchAll(/^!(.*)$/gm))
    cpSync(join(ROOT, path), join(context, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'))
}
