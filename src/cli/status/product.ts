import type { Evaluation } from '../../reconciler/baseline/gather/evaluation.ts'
import { standbyReason } from '../../shared/baseline/settings/activation.ts'
import { tellHowAlone, tellOther } from '../../shared/baseline/settings/other-autopilot.ts'
import { settingNote } from '../../shared/baseline/settings/setting-note.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { isMap } from '../../shared/engine/json/object.ts'
import { ok, type Row, wrong } from './rows.ts'

/** What is read of the product itself. */
export interface Product {
  readonly namespace: string
  /** Whether a leader has published its state. */
  readonly hasState: boolean
  readonly lease: KubeObject | undefined
  /** Those of its webhook configurations that are not there, by kind. */
  readonly unregistered: readonly string[]
}

/** How the product itself is doing: its settings, its leader and its webhook. */
export function productRows(
  product: Product,
  evaluation: Pick<Evaluation, 'hco' | 'stated'>,
  now: number,
): readonly Row[] {
  return [
    { name: 'settings', ...settingsRow(evaluation) },
    { name: 'reconciler', ...leaderRow(product, now) },
    { name: 'webhook', ...webhookRow(product, evaluation) },
  ]
}

function settingsRow({ hco, stated }: Pick<Evaluation, 'hco' | 'stated'>) {
  const { activation } = stated.settings
  if (stated.problems.length > 0) {
    const notes = stated.problems.map((problem) => settingNote(problem, stated))
    return wrong('Invalid', notes.join('; '), 'mend the annotation on the HyperConverged')
  }
  if (standbyReason(activation) === 'OtherAutopilot')
    return wrong('OtherAutopilot', tellOther(hco), tellHowAlone(hco))
  return ok(ACTIVATIONS[activation.kind].state, ACTIVATIONS[activation.kind].why)
}

const ACTIVATIONS = {
  all: { state: 'On', why: 'every asset is kept' },
  only: { state: 'On', why: 'the assets that the HyperConverged names are kept' },
  observe: { state: 'Observing', why: 'everything is computed and nothing is written' },
  off: { state: 'Off', why: 'nothing is written, corrected or deleted' },
} as const

// Clocks differ.
const SLACK_MS = 60_000

function leaderRow({ namespace, hasState, lease }: Product, now: number) {
  if (!hasState)
    return wrong(
      'NotRunning',
      `no reconciler has published its state in namespace ${namespace}`,
      'start it, or say where it is with --namespace',
    )
  // One that is alone may run without an election.
  if (!lease) return ok('Running', 'it has published its state')
  const { holderIdentity, renewTime, leaseDurationSeconds } = isMap(lease.spec) ? lease.spec : {}
  const endsAt = Date.parse(String(renewTime)) + Number(leaseDurationSeconds) * 1_000 + SLACK_MS
  if (!holderIdentity || !(endsAt > now))
    return wrong(
      'NoLeader',
      `nobody has renewed the Lease since ${renewTime ?? 'it was released'}`,
      'see the log of the reconciler',
    )
  return ok('Leading', `${holderIdentity} leads`)
}

function webhookRow({ unregistered }: Product, { stated }: Pick<Evaluation, 'stated'>) {
  if (stated.settings.activation.kind === 'off')
    return ok('Off', 'it is registered while the autopilot is on')
  if (unregistered.length === 0) return ok('Registered', 'the API server asks it about writes')
  return wrong(
    'NotRegistered',
    `there is no ${unregistered.join(' and no ')} of ours: writes pass unjudged`,
    'the reconciler registers it; one that somebody deleted comes back after 10 minutes',
  )
}
