/** What a file is to the linters: a script in a language of theirs or of nobody's, or no script. */
export type Language = 'python' | 'shell' | 'none' | { readonly unknown: string }

const BY_ENDING: readonly (readonly [RegExp, Language])[] = [
  [/\.py$/, 'python'],
  [/\.(?:ba)?sh$/, 'shell'],
]
const BY_INTERPRETER: readonly (readonly [RegExp, Language])[] = [
  [/^python[\d.]*$/, 'python'],
  [/^(?:ba|da|k)?sh$/, 'shell'],
]

/** The language of a file, by the ending of its name, else by the interpreter that its first line names. */
export function languageOf(path: string, text: string): Language {
  const byEnding = BY_ENDING.find(([ending]) => ending.test(path))
  if (byEnding) return byEnding[1]
  const [, command] = /^#![ \t]*(\S+(?:[ \t]+\S+)*)/.exec(text) ?? []
  if (command === undefined) return 'none'
  const [program = '', ...args] = command.split(/[ \t]+/)
  const name = program.endsWith('/env') ? (args.find((arg) => !arg.startsWith('-')) ?? '') : program
  const interpreter = name.split('/').at(-1) ?? ''
  const found = BY_INTERPRETER.find(([pattern]) => pattern.test(interpreter))
  return found?.[1] ?? { unknown: interpreter }
}
