import {
  CONFIGURATION_KINDS,
  configurationsAt,
} from '../../reconciler/admission/webhook-configurations.ts'
import { diffCluster } from '../../reconciler/baseline/cluster-diff.ts'
import { waitsOn } from '../../reconciler/baseline/report/hco-notes.ts'
import { readState } from '../../reconciler/manager/state-controller.ts'
import { BASELINE } from '../../shared/baseline/names.ts'
import { parseState } from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { read } from '../../shared/cluster/resource.ts'
import type { Env } from '../../shared/ops/env.ts'
import { loadCatalogWith } from '../assets.ts'
import { notesOn } from '../notes.ts'
import { relatedImages } from '../options.ts'
import { decided, warn } from '../run-cli.ts'
import { type ClusterOptions, withClient } from '../with-client.ts'
import { FORMATS } from './formats.ts'
import { lastWarnings } from './last-warnings.ts'
import { type Product, productRows } from './product.ts'
import { assetRow, type Row } from './rows.ts'

export interface StatusOptions extends ClusterOptions {
  readonly hcoNamespace?: string
  readonly output: keyof typeof FORMATS
}

/** The `status` command. Returns the exit code: 0 where all is well, 1 where something is wrong, 2 where that is not known of everything. */
export const status = (options: StatusOptions, env: Env): Promise<number> =>
  decided(look(options, env))

async function look(options: StatusOptions, env: Env): Promise<number> {
  const { namespace, hcoNamespace, output } = options
  const catalog = loadCatalogWith(options)
  return withClient(options, async (client) => {
    const images = relatedImages(env)
    const choice = { catalog, namespace, hcoNamespace, images, disruptiveChanges: undefined }
    const [found, product] = await Promise.all([
      diffCluster({ ...choice, client }),
      readProduct(client, namespace),
    ])
    if (found.kind === 'unavailable') throw new Error(found.message)
    const events = await lastWarnings(client, catalog)
    const { evaluation, pending } = found
    const { facts, statuses, stated } = evaluation
    const activation = stated.settings.activation.kind
    const assets = found.assets.map((diff) =>
      assetRow(diff, { facts, statuses, activation, pending, events }),
    )
    const parts = productRows(product, evaluation, Date.now())
    process.stdout.write(FORMATS[output]({ parts, assets }))
    for (const line of notesOn(catalog, evaluation, waitsOn(catalog, evaluation))) warn(line)
    return exitCodeOf([...parts, ...assets])
  })
}

/** 2 goes before 1: who reads the code alone must not take an answer for whole. */
export function exitCodeOf(rows: readonly Pick<Row, 'health'>[]): 0 | 1 | 2 {
  const all = new Set(rows.map(({ health }) => health))
  if (all.has('unknown')) return 2
  return all.has('wrong') ? 1 : 0
}

async function readProduct(client: Client, namespace: string): Promise<Product> {
  const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace }
  const [data, lease, ...configurations] = await Promise.all([
    readState(client, BASELINE, namespace),
    read(client, leases, BASELINE.lease),
    ...CONFIGURATION_KINDS.map((kind) =>
      read(client, configurationsAt(kind), BASELINE.webhookConfiguration),
    ),
  ])
  return {
    namespace,
    hasState: parseState(data) !== undefined,
    lease,
    unregistered: CONFIGURATION_KINDS.filter((_, index) => !configurations[index]),
  }
}
