import { styleText } from 'node:util'
import { createStatusDecider } from '../../shared/baseline/asset-status.ts'
import { UNKNOWN } from '../../shared/baseline/state.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Env } from '../../shared/ops/env.ts'
import { createSnapshot } from '../../webhook/baseline/snapshot.ts'
import { loadCatalogWith } from '../assets.ts'
import type { KnownCluster } from '../known-cluster.ts'
import { evaluateOffline, type OfflineOptions, refuseOffline } from '../render/evaluate-offline.ts'
import { decided, warn } from '../run-cli.ts'
import type { ClusterOptions } from '../with-client.ts'
import { FORMATS, type Paint } from './formats.ts'
import { type Finding, findingOn, judge, managedFor } from './judge.ts'
import { readManifests } from './manifests.ts'

export interface CheckOptions extends ClusterOptions, OfflineOptions {
  readonly enforcement?: 'correct' | 'deny'
  readonly output: keyof typeof FORMATS
}

/**
 * The `check` command: prints the webhook's verdict on manifests. Returns the exit code: 0 where every one is stored as it
 * is, 1 where one is corrected or denied, 2 where that cannot be told of one, or there is none. Throws an UndecidedError where it can of none.
 */
export const check = (files: readonly string[], options: CheckOptions, env: Env): Promise<number> =>
  decided(judgeFiles(files, options, env))

async function judgeFiles(
  files: readonly string[],
  options: CheckOptions,
  env: Env,
): Promise<number> {
  const { manifests, skipped, faults } = await readManifests(files)
  for (const line of skipped) warn(line)
  const { kubeconfig, enforcement, output } = options
  const assumed = {
    hco: kubeconfig === undefined && options.hco === undefined,
    others: kubeconfig === undefined && options.nodes === undefined,
  }
  const judgeAll = async ({ snapshot, read }: KnownCluster) => {
    const findings: Finding[] = []
    for (const manifest of manifests) {
      const managed = managedFor(manifest.object, snapshot)
      if (!managed) continue
      const stored = await read(managed)
      const known = { snapshot, stored, enforcement, digest: sha256, assumed }
      findings.push(judge(manifest, managed, known))
    }
    return findings
  }
  const judged = await (kubeconfig === undefined
    ? judgeAll(offlineCluster(options, env))
    : judgeOn({ ...options, kubeconfig }, judgeAll))
  const findings = [...judged, ...faults.map(findingOn)]
  process.stdout.write(FORMATS[output](findings, paint))
  warn(summaryOf(judged, manifests.length))
  if (faults.length > 0) warn(`files that cannot be read: ${faults.length}`)
  // Whoever pipes into it must not take a tool that failed for manifests that are right.
  return manifests.length === 0 ? 2 : exitCodeOf(findings)
}

async function judgeOn(
  options: CheckOptions,
  judgeAll: (cluster: KnownCluster) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  refuseOffline(options)
  // What talks to a cluster takes as long to load as everything else.
  const { withKnownCluster } = await import('../known-cluster.ts')
  return withKnownCluster(options, judgeAll)
}

/** What the webhook would know on the cluster that the options describe, with everything stored there as we keep it. */
function offlineCluster(options: CheckOptions, env: Env): KnownCluster {
  const catalog = loadCatalogWith(options)
  const { state, schemas } = evaluateOffline(catalog, options, env)
  const published = { ...UNKNOWN, ...state, applied: state.baselines }
  const decide = createStatusDecider(catalog, sha256)
  return {
    snapshot: createSnapshot(catalog, published, schemas, decide),
    read: async ({ status }) => (status.kind === 'active' ? status.baseline : undefined),
  }
}

/** 2 goes before 1: who reads the code alone must not take an answer for whole. */
export function exitCodeOf(findings: readonly Pick<Finding, 'verdict'>[]): 0 | 1 | 2 {
  const verdicts = new Set(findings.map(({ verdict }) => verdict))
  if (verdicts.has('unknown')) return 2
  return verdicts.has('denied') || verdicts.has('corrected') ? 1 : 0
}

function summaryOf(findings: readonly Finding[], all: number): string {
  const told = Map.groupBy(findings, ({ verdict }) => verdict)
  const counts = [...told].map(([verdict, { length }]) => `, ${length} ${verdict}`).sort()
  return `objects: ${all}, of them managed: ${findings.length}${counts.join('')}`
}

const COLORS = { allowed: 'green', corrected: 'yellow', denied: 'red', unknown: 'magenta' } as const

// On a terminal alone, and not under NO_COLOR: styleText asks for both.
const paint: Paint = (verdict) => styleText(COLORS[verdict], verdict, { stream: process.stdout })
