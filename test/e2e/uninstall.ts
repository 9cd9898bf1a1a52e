import { deepEqual, equal, ok } from 'node:assert/strict'
import {
  CONFIGURATION_KINDS,
  configurationsAt,
} from '../../src/reconciler/admission/webhook-configurations.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { watch } from '../../src/shared/cluster/watch.ts'
import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import { keptObjects } from './kept.ts'
import { eventually, type Rehearsal } from './rehearsal.ts'
import { SERVICE, targetPortOf, toTargetPort } from './service.ts'

const APPS = { apiVersion: 'apps/v1', resource: 'deployments', namespace: NAMESPACE }

/** Everything of ours that must go, what asks for the webhook before the webhook itself. */
const PARTS = [
  ...CONFIGURATION_KINDS.map((kind) => ({
    at: configurationsAt(kind),
    name: BASELINE.webhookConfiguration,
  })),
  { at: APPS, name: BASELINE.webhookAccount },
  { at: APPS, name: BASELINE.reconcilerAccount },
]

/** Uninstalls the chart, and looks at the order in which its parts go. */
export async function uninstall(rehearsal: Rehearsal): Promise<void> {
  const { client, helm } = rehearsal
  const kept = await keptObjects(rehearsal)
  ok(kept.length > 0)
  const gone: string[] = []
  const ended = new AbortController()
  const watches = PARTS.map(({ at, name }) => {
    let isSeen = false
    return watch({
      client,
      at,
      name,
      onChange(key, object) {
        isSeen ||= object !== undefined
        if (isSeen && !object) gone.push(`${at.resource} ${key}`)
      },
      onSync: () => undefined,
      onTrouble: (error) => gone.push(error.message),
      signal: ended.signal,
    })
  })
  await helm('uninstall', ['--wait', '--timeout=5m'])
  await eventually('every part is gone', async () => gone.length >= PARTS.length)
  ended.abort()
  await Promise.all(watches)
  const isRegistration = (part: string) => part.includes('webhookconfigurations')
  deepEqual(gone.map(isRegistration), [true, true, false, false], gone.join(', '))
  deepEqual((await keptObjects(rehearsal)).map(contentOf), kept.map(contentOf))
  const { status, body } = await rehearsal.patch(SERVICE, toTargetPort(1), { dryRun: 'All' })
  equal(status, 200)
  equal(targetPortOf(body), 1, 'and is anybody’s again')
}

/** What somebody keeps in an object. */
const contentOf = ({ metadata, status: _status, ...content }: Loose) => ({
  ...content,
  uid: metadata.uid,
})
