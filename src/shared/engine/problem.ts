/** What the author of an annotation got wrong, precise enough to mend it. `reason` is also the event's. */
export interface Problem {
  readonly reason:
    | 'InvalidPatch'
    /** A patch that is in order, and that ignore-fields keeps from having an effect. */
    | 'PatchShadowed'
    | 'PatchBlocked'
    | 'InvalidIgnoreFields'
    | 'InvalidMode'
    | 'InvalidSetting'
  readonly message: string
  /** The annotation's key. */
  readonly annotation: string
  /** The JSON pointer at fault inside the annotation's meaning, where there is one. */
  readonly pointer?: string
  /** Zero-based index of the patch operation at fault. */
  readonly operation?: number
}

/** A problem as a sentence that names the annotation it is about. */
export function sentenceOf({ annotation, message }: Problem): string {
  if (message.startsWith(annotation)) return message
  return /^(must|is) /.test(message) ? `${annotation} ${message}` : `${annotation}: ${message}`
}
