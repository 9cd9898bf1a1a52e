import { InvalidArgumentError, Option } from 'commander'
import type { Env } from '../shared/ops/env.ts'
import { type Listen, parseListen } from '../shared/ops/listen.ts'
import { LOG_LEVELS } from '../shared/ops/log.ts'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Reads a duration such as `500ms`, `10s`, `5m` or `1h`, in milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+)(ms|s|m|h)$/.exec(text)
  const [, amount, unit = ''] = match ?? []
  if (amount === undefined)
    throw new InvalidArgumentError('Write a number and ms, s, m or h: 10s, 5m.')
  return Number(amount) * (UNITS[unit] ?? 1)
}

/** Reads a number that looks like this, or says how to write it. */
const numberLike = (pattern: RegExp, hint: string) => (text: string) => {
  if (!pattern.test(text)) throw new InvalidArgumentError(hint)
  return Number(text)
}

export const parseCount = numberLike(/^[1-9]\d{0,8}$/, 'Write a number from 1.')

/** How long an API server waits for a webhook: no other number of seconds is one that it takes. */
export const parseWebhookTimeout = numberLike(
  /^([1-9]|[12]\d|30)$/,
  'Write whole seconds, from 1 to 30.',
)

/** Reads an annotation, KEY=VALUE, with the prefix that an annotation of another product has. */
export function parseAnnotation(text: string): Readonly<Record<string, string>> {
  const [, key, value] = /^([a-z0-9.-]+\/[A-Za-z0-9._-]+)=(.+)$/.exec(text) ?? []
  if (key === undefined || value === undefined)
    throw new InvalidArgumentError(
      'Write PREFIX/NAME=VALUE: cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE, or service.beta.openshift.io/inject-cabundle=true.',
    )
  return { [key]: value }
}

/** Gathers the values of an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]

/** An option whose value, and whose default, is read from a text. */
const optionOf =
  <T>(parse: (text: string) => T) =>
  (flags: string, description: string, byDefault: string) =>
    new Option(flags, description).argParser(parse).default(parse(byDefault), byDefault)

export const durationOption = optionOf(parseDuration)
export const listenOption = optionOf(parseListenArgument)

/** The first of the formats is the default. */
export const outputOption = (formats: readonly string[], description: string) =>
  new Option('-o, --output <format>', description).choices(formats).default(formats[0])

/** Like parseListen, told as commander tells a wrong argument. */
function parseListenArgument(text: string): Listen {
  try {
    return parseListen(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** An https URL that the API server can call. */
export function parseWebhookUrl(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('Write https://HOST:PORT.')
  return text
}

export const kubeconfigOption = () =>
  new Option(
    '--kubeconfig <file>',
    'the cluster to use; default: KUBECONFIG, ~/.kube/config, or the pod’s own',
  )
export const assetsOption = () =>
  new Option(
    '--assets <folder>',
    'a folder of assets of your own, kept beside ours: see docs/baseline/own-assets.md',
  )
export const hcoNamespaceOption = () =>
  new Option('--hco-namespace <name>', 'where the HyperConverged is, if there are several')
export const logLevelOption = () =>
  new Option('--log-level <level>', 'debug shows stack traces too')
    .choices([...LOG_LEVELS])
    .default('info')
export const opsListenOption = () =>
  listenOption('--ops-listen <address>', 'where /metrics, /healthz and /readyz are served', ':8080')
export const enforcementOption = () =>
  new Option(
    '--enforcement <mode>',
    'what happens to an edit of a managed field; default: what the asset says, else correct',
  ).choices(['correct', 'deny'])
/** No default of its own: what is right depends on whose cluster it is. */
export const disruptiveChangesOption = (byDefault: string) =>
  new Option(
    '--disruptive-changes <mode>',
    `whether changes that reboot nodes wait for approval; default: ${byDefault}`,
  ).choices(['hold', 'apply'])

/** Likewise. */
export const activationOption = (byDefault: string) =>
  new Option(
    '--activation <mode>',
    `what to do where the HyperConverged does not say; default: ${byDefault}`,
  ).choices(['on', 'observe'])

const PREFIX = 'RELATED_IMAGE_'

/** Images by name, as the environment states them: RELATED_IMAGE_METRICS_EXPORTER gives metrics-exporter. */
export const relatedImages = (env: Env): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(PREFIX) && value
        ? [[key.slice(PREFIX.length).toLowerCase().replaceAll('_', '-'), value]]
        : [],
    ),
  )

/**
 * For how many seconds the API server waits for each of the two entries, if nothing else is said: what an edit costs twice while the
 * webhook hangs. The least that the API server takes is enough: on two cores, of 60,000 calls under up to eight writers none took
 * half a second. Only four writers of one object of 1 MiB at once, on cores that had five times as much to do, lost some: 5 of 248.
 */
export const DEFAULT_TIMEOUT_S = 1
