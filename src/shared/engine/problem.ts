/** What the author of an annotation got wrong, precise enough to mend it. `reason` is also the event's. */
export interface Problem {
  readonly reason:
    | 'InvalidPatch'
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
