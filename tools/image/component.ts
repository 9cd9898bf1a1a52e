/** Somebody else's code that is in an image. */
export interface Component {
  /** Where its licence is: of an npm package as the lock file has it, `node_modules/a/node_modules/b`. */
  readonly path: string
  readonly name: string
  readonly version: string
  /** An SPDX identifier, or an expression of some. */
  readonly license: string
  /** Which one it is: https://github.com/package-url/purl-spec */
  readonly purl: string
  /** What its content is checked by: sha512-BASE64. */
  readonly integrity?: string
}
