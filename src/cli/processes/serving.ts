import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Listen } from '../../shared/ops/listen.ts'
import { durationOption, listenOption, opsListenOption } from '../options.ts'
import { UsageError } from '../run-cli.ts'

/** How a webhook is reached, whatever it judges. */
export interface ServingOptions {
  readonly listen: Listen
  readonly opsListen: Listen
  readonly certMode: 'secret' | 'files'
  readonly certDir?: string
  readonly clientCa?: string
  readonly shutdownGrace: number
}

/** The options of every webhook that come first, and then those that come last. */
export const withListeners = (command: Command): Command =>
  command
    .addOption(listenOption('--listen <address>', 'where the API server reaches us', ':9443'))
    .addOption(opsListenOption())

export const withCertificates = (command: Command): Command =>
  command
    .addOption(
      new Option('--cert-mode <mode>', 'where the serving certificate comes from')
        .choices(['secret', 'files'])
        .default('secret'),
    )
    .option('--cert-dir <folder>', 'with --cert-mode files: the folder of tls.crt and tls.key')
    .option(
      '--client-ca <file>',
      'let only callers in that have a certificate of these authorities; default: anybody who reaches us',
    )

export const shutdownGraceOption = () =>
  durationOption('--shutdown-grace <duration>', 'how long to go on serving after SIGTERM', '10s')

/** What the options ask of the server. Throws UsageError for what it cannot use. */
export function servingOf(options: ServingOptions) {
  const { listen, opsListen, certMode, certDir, clientCa, shutdownGrace } = options
  if (certMode === 'files' && certDir === undefined)
    throw new UsageError('--cert-mode files needs --cert-dir FOLDER')
  return {
    listen,
    opsListen,
    certificate:
      certMode === 'files'
        ? ({ mode: 'files', folder: certDir ?? '' } as const)
        : ({ mode: 'secret' } as const),
    clientCa: clientCa === undefined ? undefined : authoritiesIn(clientCa),
    graceMs: shutdownGrace,
  }
}

/** The file's PEM, once it is seen to be a certificate: what is none would let nobody in, and say so to nobody. */
function authoritiesIn(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8')
    new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new UsageError(
      `--client-ca ${file} cannot be read as PEM certificates: ${(error as Error).message}`,
    )
  }
}
