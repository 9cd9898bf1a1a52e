import { type Command, Option } from 'commander'
import type { WebhookEndpoint } from '../../shared/engine/webhook-configuration.ts'
import {
  DEFAULT_TIMEOUT_S,
  parseAnnotation,
  parseWebhookTimeout,
  parseWebhookUrl,
} from '../options.ts'

/** How a system's webhook is registered. */
export interface RegistrationOptions {
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly webhookTimeout: number
  readonly webhookService: string
  readonly webhookUrl?: string
  readonly webhookCa?: string
  readonly webhookCaInjection?: Readonly<Record<string, string>>
}

/** Adds the options of every reconciler that say when its webhook is asked. */
export const withPolicy = (command: Command): Command =>
  command
    .addOption(
      new Option('--failure-policy <policy>', 'what happens to a write while no webhook answers')
        .choices(['Ignore', 'Fail'])
        .default('Ignore'),
    )
    .option(
      '--webhook-timeout <seconds>',
      'how long a write waits for each of the webhook’s entries',
      parseWebhookTimeout,
      DEFAULT_TIMEOUT_S,
    )

/** Adds those that say where it is, and whom it is trusted by. */
export const withEndpoint = (command: Command, service: string): Command =>
  command
    .option('--webhook-service <name>', 'the Service of the webhook, in our namespace', service)
    .option('--webhook-url <url>', 'where the webhook is, outside a cluster', parseWebhookUrl)
    .option(
      '--webhook-ca <file>',
      'the authorities of the webhook’s certificate, where somebody else makes it (webhook --cert-mode files)',
    )
    .addOption(
      new Option(
        '--webhook-ca-injection <annotation>',
        'KEY=VALUE on the webhook configurations: who reads it writes the authorities there (cert-manager, the service CA)',
      )
        .argParser(parseAnnotation)
        .conflicts('webhookCa'),
    )

/** What the options say of the registration of a system that lives in this namespace. */
export const registrationOf = (options: RegistrationOptions, namespace: string) => ({
  failurePolicy: options.failurePolicy,
  webhookTimeoutS: options.webhookTimeout,
  endpoint: endpointOf(options, namespace),
  webhookCa: options.webhookCa,
  caInjection: options.webhookCaInjection,
})

const endpointOf = (
  { webhookUrl, webhookService: name }: RegistrationOptions,
  namespace: string,
): WebhookEndpoint =>
  webhookUrl === undefined ? { service: { name, namespace } } : { url: webhookUrl }
