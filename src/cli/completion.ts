import type { Command, Option } from 'commander'

/** The shells that a command line can be completed in. */
export type Shell = keyof typeof SCRIPTS

/** What a shell reads to complete the command lines of a program: its commands, their options, and what these may be. */
export const completion = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](program.name(), wordsOf(program))

interface Words {
  /** As it is typed: `graph render` is below `graph`. */
  readonly command: string
  readonly description: string
  readonly options: readonly Option[]
  /** What its arguments may be, and the commands below it; none where they are files. */
  readonly choices: readonly string[]
}

const wordsOf = (program: Command): readonly Words[] =>
  program.commands.flatMap((command) => [
    wordsOn(command),
    ...command.commands.map((nested) => wordsOn(nested, `${command.name()} `)),
  ])

const wordsOn = (command: Command, above = ''): Words => ({
  command: above + command.name(),
  description: command.description(),
  options: command.createHelp().visibleOptions(command),
  choices: [
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ...command.commands.map((nested) => nested.name()),
  ],
})

const isNested = ({ command }: Words) => command.includes(' ')

const flagsOf = (options: readonly Option[]) =>
  options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined))

const SCRIPTS = { bash, zsh, fish } as const

/** After an option with choices these, after any other that takes a value files; else flags or what the argument may be. */
function bash(name: string, words: readonly Words[]): string {
  const own = `_${identifier(name)}`
  const reply = (what: string) => `${own}_reply ${what}`
  const cases = words.map(({ command, options, choices }) => {
    const values = options
      .filter(({ required }) => required)
      .map((option) => {
        const given = option.argChoices ? `-W '${option.argChoices.join(' ')}'` : '-f'
        return `        ${flagsOf([option]).join('|')}) ${reply(given)}; return ;;`
      })
    const flags = `-W '${flagsOf(options).join(' ')}'`
    const rest = choices.length > 0 ? `-W '${choices.join(' ')}'` : '-f'
    return [
      `    '${command}')`,
      '      case "$before" in',
      ...values,
      '      esac',
      `      case "$word" in -*) ${reply(flags)} ;; *) ${reply(rest)} ;; esac ;;`,
    ].join('\n')
  })
  const uppermost = words.filter((one) => !isNested(one)).map(({ command }) => command)
  const nested = words.filter(isNested).map(({ command }) => `'${command}'`)
  return `${own}() {
  local command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in ${nested.join('|')}) command="$command \${COMP_WORDS[2]}" ;; esac
  fi
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" given=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${reply(`-W '${uppermost.join(' ')} help'`)}
    return
  fi
  # Of --output=j bash makes three words, and zsh one.
  case "$word" in
    =) word= ;;
    --*=*) given="\${word%%=*}=" before="\${word%%=*}" word="\${word#*=}" ;;
    *) if [ "$before" = = ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
}
# A line is one word, whatever is in the name of a file. Neither the bash of macOS nor zsh has mapfile; zsh says nothing in a line.
${own}_reply() {
  local found
  while IFS= read -r found; do
    if [ -n "$found" ]; then COMPREPLY+=("$given$found"); fi
  done < <(compgen "$@" -- "$word")
}
complete -o filenames -F ${own} ${name}
`
}

/** Bash's, by zsh's own bridge to it; a second generator would only be a second truth. */
function zsh(name: string, words: readonly Words[]): string {
  return `#compdef ${name}
autoload -U +X bashcompinit && bashcompinit
${bash(name, words)}
# As a file of fpath this is run at the first TAB, which is to be answered, too.
if [ "\${funcstack[1]}" = "_${name}" ]; then _bash_complete -o filenames -F _${identifier(name)}; fi
`
}

function fish(name: string, words: readonly Words[]): string {
  const lines = words.flatMap((one) => {
    const { command, description, options, choices } = one
    const after = `complete -c ${name} -n '${conditionOf(command, words)}'`
    return [
      ...(isNested(one)
        ? []
        : [
            `complete -c ${name} -n __fish_use_subcommand -f -a ${command} -d ${quoted(description)}`,
          ]),
      ...options.map((option) => fishOption(after, option)),
      ...(choices.length > 0 ? [`${after} -f -a ${quoted(choices.join(' '))}`] : []),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** When a line is one of this command; `render` is not `graph render`. */
function conditionOf(command: string, words: readonly Words[]): string {
  const above = words
    .map((one) => one.command.split(' '))
    .flatMap(([parent, nested]) => (nested === command ? [`not ${SEEN} ${parent}`] : []))
  return [...above, ...command.split(' ').map((word) => `${SEEN} ${word}`)].join('; and ')
}

const SEEN = '__fish_seen_subcommand_from'

function fishOption(after: string, option: Option): string {
  const { short, long, required, argChoices, description } = option
  return [
    after,
    ...(short ? [`-s ${short.slice(1)}`] : []),
    ...(long ? [`-l ${long.slice(2)}`] : []),
    ...(required ? ['-r'] : []),
    ...(argChoices ? [`-f -a ${quoted(argChoices.join(' '))}`] : []),
    `-d ${quoted(description)}`,
  ].join(' ')
}

const identifier = (name: string) => name.replaceAll('-', '_')
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
