import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { certificatesIn } from '../../../src/shared/ops/pem.ts'
import { type AutopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HEALTH_CHECK, MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
export const AUTHORITY = `${SECRETS}/virt-platform-autopilot-webhook-ca`
export const SERVING = `${SECRETS}/virt-platform-autopilot-webhook-tls`

/** What is stored and what is in use, each by its fingerprint. */
export interface InUse {
  readonly authority: string
  readonly serving: string
  /** What the replica answers a new connection with. */
  readonly served: string
  /** Of the Secret, and of each configuration. */
  readonly bundles: readonly (readonly string[])[]
  /** Whether the stored authority signed the stored certificate. */
  readonly isSigned: boolean
  /** When the stored ones end, in seconds since the epoch. */
  readonly ends: { readonly authority: number; readonly serving: number }
}

const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString()
const fingerprints = (pem: string) => certificatesIn(pem).map((one) => one.fingerprint256)

/** The certificates of a cluster; undefined where a part is missing or is none. */
export async function inUse(cluster: AutopilotCluster): Promise<InUse | undefined> {
  const paths = [AUTHORITY, SERVING, MUTATING, VALIDATING]
  const [ca, tls, ...configurations] = await Promise.all(paths.map(cluster.read))
  const [authority] = certificatesIn(decoded(ca?.data?.['tls.crt']))
  const [serving] = certificatesIn(decoded(tls?.data?.['tls.crt']))
  if (!authority || !serving) return undefined
  const bundles = [tls?.data?.['ca.crt'], ...configurations.map(caBundleOf)]
  return {
    authority: authority.fingerprint256,
    serving: serving.fingerprint256,
    served: (await servedAt(cluster.autopilot.webhookPort)).fingerprint256,
    bundles: bundles.map((bundle) => fingerprints(decoded(bundle))),
    isSigned: serving.verify(authority.publicKey),
    ends: { authority: endOf(authority), serving: endOf(serving) },
  }
}

const endOf = ({ validTo }: X509Certificate) => Date.parse(validTo) / 1000

/** The bundle of a configuration, as it is stored. */
export const caBundleOf = (configuration: Loose): string | undefined =>
  configuration?.webhooks[0].clientConfig.caBundle

/** The certificate that a new connection is answered with. */
export function servedAt(port: number): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const certificate = socket.getPeerX509Certificate()
      socket.destroy()
      if (certificate) resolve(new X509Certificate(certificate.raw))
      else reject(new Error('nobody showed a certificate'))
    })
    socket.once('error', reject)
  })
}

/** Waits until the stored certificates are served with, trusted by both configurations, and as the test wants them. */
export const untilInUse = (
  cluster: AutopilotCluster,
  what: string,
  isWanted: (now: InUse) => boolean,
): Promise<InUse> =>
  until(
    what,
    async () => {
      const now = await inUse(cluster)
      const isSettled =
        now?.served === now?.serving &&
        now?.bundles.every((bundle) => bundle.join() === now.bundles[0]?.join())
      return now && isSettled && isWanted(now) && now
    },
    200_000,
  )

const AUTHORITY_OF = 'virt_platform_webhook_ca_expiry_timestamp_seconds'

/** Waits until the reconciler that runs has looked after certificates and registration: it says that it did at the end. */
export const untilKept = ({ metric }: Pick<AutopilotCluster, 'metric'>): Promise<true> =>
  until(
    'the reconciler has looked after certificates and registration',
    async () => (await metric('reconciler', AUTHORITY_OF)) > 0,
    90_000,
  )

/** Whether a wrong write is refused now. It is a dry run: nobody's bucket gets emptier. */
export async function isJudged({ admin }: Pick<AutopilotCluster, 'admin'>): Promise<boolean> {
  const wrong = { metadata: { annotations: { 'platform.kubevirt.io/mode': 'nonsense' } } }
  const type = 'application/merge-patch+json'
  return (await admin('PATCH', `${HEALTH_CHECK}?dryRun=All`, wrong, type)).status === 403
}

/** A Secret's data, encoded. */
export const dataOf = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  )
