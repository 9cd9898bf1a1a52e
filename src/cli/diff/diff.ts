import { diffCluster } from '../../reconciler/baseline/cluster-diff.ts'
import { waitsOn } from '../../reconciler/baseline/report/hco-notes.ts'
import { isObserving } from '../../shared/baseline/settings/activation.ts'
import type { DefaultActivation, Settings } from '../../shared/baseline/settings/settings.ts'
import type { Env } from '../../shared/ops/env.ts'
import { loadCatalogWith } from '../assets.ts'
import { notesOn } from '../notes.ts'
import { relatedImages } from '../options.ts'
import { decided, UsageError, warn } from '../run-cli.ts'
import { type ClusterOptions, withClient } from '../with-client.ts'
import { type Finding, findingsIn, isUnapprovedReboot } from './finding.ts'
import { FORMATS, remarkOn } from './formats.ts'

export interface DiffOptions extends ClusterOptions {
  readonly hcoNamespace?: string
  readonly disruptiveChanges?: 'apply' | 'hold'
  readonly activation?: DefaultActivation
  readonly output: keyof typeof FORMATS
  readonly failOn: 'change' | 'reboot'
}

/**
 * The `diff` command: prints what the product would change in a cluster. Returns the exit code: 0 nothing, 1 something
 * (or, if asked, a reboot that nobody has approved), 2 where that is not known of every asset. Throws an UndecidedError
 * where it is known of none.
 */
export async function diff(options: DiffOptions, env: Env): Promise<number> {
  if (options.failOn === 'reboot' && options.disruptiveChanges === 'apply')
    throw new UsageError(
      '--fail-on reboot asks what waits for approval: with --disruptive-changes apply nothing would',
    )
  return decided(compare(options, env))
}

type Judge = (finding: Finding, settings: Settings) => boolean

const FAILURES: Readonly<Record<DiffOptions['failOn'], Judge>> = {
  change: (finding) => 'drifts' in finding,
  reboot: (finding, { activation }) => isUnapprovedReboot(finding) && !isObserving(activation),
}

async function compare(options: DiffOptions, env: Env): Promise<number> {
  const { namespace, hcoNamespace, activation, output, failOn } = options
  // What is not held needs no approval, and whoever asks about approvals wants them to count.
  const disruptiveChanges = failOn === 'reboot' ? 'hold' : options.disruptiveChanges
  const catalog = loadCatalogWith(options)
  const images = relatedImages(env)
  const modes = { disruptiveChanges, ...(activation && { activation }) }
  const found = await withClient(options, (client) =>
    diffCluster({ client, catalog, namespace, hcoNamespace, images, ...modes }),
  )
  if (found.kind === 'unavailable') throw new Error(found.message)
  const { evaluation, pending } = found
  const findings = findingsIn(found)
  process.stdout.write(FORMATS[output]({ findings, pending }))
  const remarks = findings.flatMap((finding) => remarkOn(finding) ?? [])
  for (const line of [...notesOn(catalog, evaluation, waitsOn(catalog, evaluation)), ...remarks])
    warn(line)
  if (findings.some(({ action }) => action === 'unknown')) return 2
  const { settings } = evaluation.stated
  return findings.some((finding) => FAILURES[failOn](finding, settings)) ? 1 : 0
}
