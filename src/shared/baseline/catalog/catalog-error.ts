/** The folders do not hold a valid catalog; the message has one line per mistake. */
export class CatalogError extends Error {
  override name = 'CatalogError' as const
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}
