import { styleText } from 'node:util'
import { createStatusDecider } from '../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { UNKNOWN } from '../../shared/baseline/state.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Env } from '../../shared/ops/env.ts'
import {
  createSnapshot,
  type ManagedObject,
  type Snapshot,
} from '../../webhook/baseline/snapshot.ts'
import { type CatalogOptions, loadCatalogWith } from '../assets.ts'
import { titleOfFile } from '../read-objects.ts'
import { evaluateOffline, type OfflineOptions, refuseOffline } from '../render/evaluate-offline.ts'
import { UndecidedError, warn } from '../run-cli.ts'
import { FORMATS, type Paint } from './formats.ts'
import { type Finding, type JudgeOptions, judge, managedFor } from './judge.ts'
import { readManifests } from './manifests.ts'

export interface CheckOptions extends CatalogOptions, OfflineOptions {
  readonly kubeconfig?: string
  readonly enforcement?: 'correct' | 'deny'
  readonly output: keyof typeof FORMATS
}

/**
 * The `check` command: prints the webhook's verdict on manifests. Returns the exit code: 0 where every one is stored as it
 * is, 1 where one is corrected or denied, 2 where that cannot be told of one. Throws an UndecidedError where it can of none.
 */
export async function check(
  files: readonly string[],
  options: CheckOptions,
  env: Env,
): Promise<number> {
  try {
    return await judgeFiles(files, options, env)
  } catch (error) {
    throw new UndecidedError((error as Error).message, { cause: error })
  }
}

type Subject = readonly [manifest: Parameters<typeof judge>[0], managed: ManagedObject]

async function judgeFiles(
  files: readonly string[],
  options: CheckOptions,
  env: Env,
): Promise<number> {
  const { manifests, skipped } = readManifests(files)
  for (const line of skipped) warn(line)
  const catalog = loadCatalogWith(options)
  const subjectsIn = (snapshot: Snapshot): readonly Subject[] =>
    manifests.flatMap((manifest) => {
      const managed = managedFor(manifest.object, snapshot)
      return managed ? [[manifest, managed] as const] : []
    })
  const { enforcement } = options
  const findingsOn = (
    subjects: readonly Subject[],
    known: Pick<JudgeOptions, 'snapshot' | 'storedOf'>,
  ) =>
    subjects.map(([manifest, managed]) => {
      try {
        return judge(manifest, managed, { ...known, enforcement, digest: sha256 })
      } catch (error) {
        const { file, line } = manifest
        throw new Error(`${titleOfFile(file)}:${line}: ${(error as Error).message}`, {
          cause: error,
        })
      }
    })
  const findings = await (options.kubeconfig === undefined
    ? offline()
    : onCluster(options.kubeconfig))
  process.stdout.write(FORMATS[options.output](findings, paint))
  warn(summaryOf(findings, manifests.length))
  return exitCodeOf(findings)

  function offline(): readonly Finding[] {
    const snapshot = snapshotOffline(catalog, options, env)
    return findingsOn(subjectsIn(snapshot), { snapshot })
  }

  async function onCluster(kubeconfig: string): Promise<readonly Finding[]> {
    refuseOffline(options)
    // What talks to a cluster takes as long to load as everything else.
    const { withStored } = await import('./stored.ts')
    return withStored({ catalog, kubeconfig, namespace: options.namespace }, async (cluster) => {
      const { snapshot, read } = cluster
      const subjects = subjectsIn(snapshot)
      const stored = new Map<ManagedObject, KubeObject | undefined>()
      for (const [, managed] of subjects)
        if (!stored.has(managed)) stored.set(managed, await read(managed))
      return findingsOn(subjects, { snapshot, storedOf: (managed) => stored.get(managed) })
    })
  }
}

/** What the webhook would know on the cluster that the options describe, with everything in force there. */
function snapshotOffline(catalog: Catalog, options: OfflineOptions, env: Env): Snapshot {
  const { state, schemas } = evaluateOffline(catalog, options, env)
  const published = { ...UNKNOWN, ...state, applied: state.baselines }
  return createSnapshot(catalog, published, schemas, createStatusDecider(catalog, sha256))
}

/** 2 goes before 1: who reads the code alone must not take an answer for whole. */
export function exitCodeOf(findings: readonly Pick<Finding, 'verdict'>[]): 0 | 1 | 2 {
  const verdicts = new Set(findings.map(({ verdict }) => verdict))
  if (verdicts.has('unknown')) return 2
  return verdicts.has('denied') || verdicts.has('corrected') ? 1 : 0
}

function summaryOf(findings: readonly Finding[], all: number): string {
  const count = (wanted: Finding['verdict']) =>
    findings.filter(({ verdict }) => verdict === wanted).length
  const told = (['allowed', 'corrected', 'denied', 'unknown'] as const)
    .map((verdict) => [verdict, count(verdict)] as const)
    .filter(([, number]) => number > 0)
    .map(([verdict, number]) => `${number} ${verdict}`)
  const ours = told.length > 0 ? told.join(', ') : 'none'
  return `${all} objects, of which ${findings.length} are managed: ${ours}`
}

const COLORS = { allowed: 'green', corrected: 'yellow', denied: 'red', unknown: 'magenta' } as const

// On a terminal alone, and not under NO_COLOR: styleText asks for both.
const paint: Paint = (verdict) => styleText(COLORS[verdict], verdict, { stream: process.stdout })
