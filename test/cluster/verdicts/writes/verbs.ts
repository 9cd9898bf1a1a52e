import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jsonPatch from 'fast-json-patch'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Actor, Told } from './actor.ts'
import { mergePatchOf, plain } from './manifest.ts'
import type { Subject } from './subjects.ts'

/** An edit to be written: the object as it is stored, and as it is to be. */
export interface Wish {
  readonly actor: Actor
  readonly subject: Subject
  readonly before: KubeObject
  readonly after: KubeObject
}

/** A way for a client to update an object. */
export interface Verb {
  readonly way: string
  /** What a client of this kind did to the object before. */
  readonly prepare?: (wish: Wish) => Promise<Told>
  readonly write: (wish: Wish, isDry: boolean) => Promise<Told>
  readonly hasDryRun?: false
  /** Where nothing differs the client asks for nothing. */
  readonly isLazy?: true
  /** Built-in kinds only: the API server answers 415 for others. */
  readonly isForBuiltIns?: true
  /**
   * A server-side apply: the API server answers 409 to whoever changes what another owns, unless forced, and what
   * one of several owners leaves out stays.
   */
  readonly apply?: 'forced' | 'polite'
}

/** The query of a request that is to be stored, or is a dry run. */
export const query = (isDry: boolean) => (isDry ? { dryRun: 'All' } : {})
/** The same in kubectl's words. */
export const dry = (isDry: boolean) => (isDry ? ['--dry-run=server'] : [])

const patch = (way: string, type: string, bodyOf: (from: object, to: object) => unknown): Verb => ({
  way,
  write: ({ actor, subject, before, after }, isDry) =>
    actor.send(subject.path, {
      method: 'PATCH',
      contentType: `application/${type}+json`,
      body: bodyOf(before, after),
      query: query(isDry),
    }),
})

const apply = (force: boolean): Pick<Verb, 'prepare' | 'write'> => {
  const send = ({ actor, subject }: Wish, object: KubeObject, isDry: boolean) =>
    actor.send(subject.path, {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      body: plain(object),
      query: { fieldManager: 'gitops', force, ...query(isDry) },
    })
  return {
    prepare: (wish) => send(wish, wish.before, false),
    write: (wish, isDry) => send(wish, wish.after, isDry),
  }
}

/** A folder with an editor that puts this object in place of what it is shown, and keeps the remarks that come with that. */
function editorThatWrites(object: KubeObject) {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-edit-'))
  const [command, remarks] = [join(folder, 'edit'), join(folder, 'remarks')]
  writeFileSync(join(folder, 'edited'), JSON.stringify(object))
  const script = `#!/bin/sh\ngrep '^#' "$1" >> ${remarks}\ncp ${join(folder, 'edited')} "$1"\n`
  writeFileSync(command, script, { mode: 0o700 })
  return {
    command,
    /** What a refusal says, which kubectl shows in the editor where a field is at fault. */
    remarks() {
      return readFileSync(remarks, 'utf8').replaceAll(/^# ?/gm, '')
    },
    remove() {
      rmSync(folder, { recursive: true })
    },
  }
}

/** Every way in which a client updates an object. */
export const VERBS: readonly Verb[] = [
  {
    way: 'PUT',
    write: ({ actor, subject, after }, isDry) =>
      actor.send(subject.path, { method: 'PUT', body: after, query: query(isDry) }),
  },
  patch('a JSON patch', 'json-patch', jsonPatch.compare),
  patch('a merge patch', 'merge-patch', mergePatchOf),
  {
    ...patch('a strategic merge patch', 'strategic-merge-patch', mergePatchOf),
    isForBuiltIns: true,
  },
  { way: 'a server-side apply', apply: 'polite', ...apply(false) },
  { way: 'a server-side apply with force', apply: 'forced', ...apply(true) },
  {
    way: 'kubectl apply',
    isLazy: true,
    prepare: ({ actor, before }) => actor.kubectl(['apply', '-f-'], plain(before)),
    write: ({ actor, after }, isDry) =>
      actor.kubectl(['apply', ...dry(isDry), '-f-'], plain(after)),
  },
  {
    way: 'kubectl edit',
    async write({ actor, subject, after }) {
      const { managedFields: _, ...metadata } = after.metadata
      const editor = editorThatWrites({ ...after, metadata })
      try {
        const told = await actor.kubectl(['edit', ...subject.target], undefined, editor.command)
        return { ...told, error: `${told.error}\n${editor.remarks()}` }
      } finally {
        editor.remove()
      }
    },
    hasDryRun: false,
    isLazy: true,
  },
  {
    way: 'kubectl replace',
    write: ({ actor, after }, isDry) =>
      actor.kubectl(['replace', ...dry(isDry), '-f-'], plain(after)),
  },
]
