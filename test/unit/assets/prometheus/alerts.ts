import { statusOf } from '../../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { assetNamed, factsWith } from '../../baseline/facts.ts'

/** A rule as Prometheus reads it. */
export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly Alert[] }[]
}

/** The alerts that the catalog brings to a cluster. */
export const alerts: readonly Alert[] = rendered().groups.flatMap(({ rules }) => rules)

function rendered(): Rules {
  const { settings } = readSettings({})
  const status = statusOf(assetNamed('prometheus-rules'), factsWith(), settings, sha256)
  if (status.kind !== 'active') throw new Error(JSON.stringify(status))
  return status.baseline.spec as Rules
}
