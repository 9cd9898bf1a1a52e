import type { Edit, Subject } from './subjects.ts'

/** A write to a managed object, and what is to become of it, whichever way a client writes it. */
export interface Write {
  readonly says: string
  readonly subject: Subject
  /** What somebody had done to the object, past the webhook. */
  readonly given?: Edit
  /** What the write changes; a number makes its values its own. */
  readonly edit: (object: Parameters<Edit>[0], unique: number) => void
  /** The verdict and its reason, as they are counted. */
  readonly verdict: string
  /** What is stored of it; by default nothing of a write that is not allowed, and all of one that is. */
  readonly stored?: (object: Parameters<Edit>[0], unique: number) => void
  /** The warnings, or the lines of a denial; by default none. */
  readonly told?: readonly RegExp[]
  /** Changes a value that others own: a server-side apply without force is a conflict, and nobody is asked. */
  readonly isContested?: true
  /** Only leaves things out, which a server-side apply does not take from their other owners: then this is the verdict. */
  readonly applied?: string
}

export const PREFIX = 'platform.kubevirt.io'

/** Adds annotations. */
export const annotate =
  (annotations: Readonly<Record<string, string>>): Edit =>
  ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, ...annotations }
  }
/** Adds the override that makes this the value. */
export const patchTo = (value: string) =>
  annotate({ [`${PREFIX}/patch`]: JSON.stringify([{ op: 'add', path: '/data/value', value }]) })
