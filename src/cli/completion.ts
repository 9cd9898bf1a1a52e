import type { Command, Option } from 'commander'

/** The shells that a command line can be completed in. */
export type Shell = keyof typeof SCRIPTS

/** What a shell reads to complete the command lines of a program: its commands, their options, and what these may be. */
export const completion = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](program.name(), wordsOf(program))

interface Words {
  readonly command: string
  readonly description: string
  readonly options: readonly Option[]
  /** What its arguments may be; none where they are files. */
  readonly choices: readonly string[]
}

const wordsOf = (program: Command): readonly Words[] =>
  program.commands.map((command) => ({
    command: command.name(),
    description: command.description(),
    options: command.createHelp().visibleOptions(command),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  }))

const flagsOf = (options: readonly Option[]) =>
  options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined))

const SCRIPTS = { bash, zsh, fish } as const

/** After an option with choices these, after any other that takes a value files; else flags or what the argument may be. */
function bash(name: string, words: readonly Words[]): string {
  const cases = words.map(({ command, options, choices }) => {
    const flags = flagsOf(options).join(' ')
    const own = options
      .filter(({ required }) => required)
      .map((option) => {
        const given = option.argChoices
          ? `COMPREPLY=($(compgen -W '${option.argChoices.join(' ')}' -- "$word"))`
          : 'COMPREPLY=($(compgen -f -- "$word"))'
        return `        ${flagsOf([option]).join('|')}) ${given}; return ;;`
      })
    const rest = choices.length > 0 ? `-W '${choices.join(' ')}'` : '-f'
    return [
      `    ${command})`,
      '      case "$before" in',
      ...own,
      '      esac',
      `      case "$word" in -*) COMPREPLY=($(compgen -W '${flags}' -- "$word")) ;; *) COMPREPLY=($(compgen ${rest} -- "$word")) ;; esac ;;`,
    ].join('\n')
  })
  return `_${identifier(name)}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${words.map(({ command }) => command).join(' ')} help' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
}
complete -o filenames -F _${identifier(name)} ${name}
`
}

/** Bash's, by zsh's own bridge to it; a second generator would only be a second truth. */
function zsh(name: string, words: readonly Words[]): string {
  return `#compdef ${name}\nautoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(name, words)}`
}

function fish(name: string, words: readonly Words[]): string {
  const lines = words.flatMap(({ command, description, options, choices }) => [
    `complete -c ${name} -n __fish_use_subcommand -f -a ${command} -d ${quoted(description)}`,
    ...options.map((option) => fishOption(name, command, option)),
    ...(choices.length > 0 ? [`${seen(name, command)} -f -a ${quoted(choices.join(' '))}`] : []),
  ])
  return `${lines.join('\n')}\n`
}

const seen = (name: string, command: string) =>
  `complete -c ${name} -n '__fish_seen_subcommand_from ${command}'`

function fishOption(name: string, command: string, option: Option): string {
  const { short, long, required, argChoices, description } = option
  return [
    seen(name, command),
    ...(short ? [`-s ${short.slice(1)}`] : []),
    ...(long ? [`-l ${long.slice(2)}`] : []),
    ...(required ? ['-r'] : []),
    ...(argChoices ? [`-f -a ${quoted(argChoices.join(' '))}`] : []),
    `-d ${quoted(description)}`,
  ].join(' ')
}

const identifier = (name: string) => name.replaceAll('-', '_')
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
