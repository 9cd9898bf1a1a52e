import { type Evaluation, evaluate } from '../../reconciler/baseline/gather/evaluation.ts'
import { withCluster } from '../../reconciler/baseline/gather/read-cluster.ts'
import { createStatusDecider } from '../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Env } from '../../shared/ops/env.ts'
import { relatedImages } from '../options.ts'
import { withClient } from '../with-client.ts'

export interface OnClusterOptions {
  readonly kubeconfig: string
  readonly namespace: string
  readonly hcoNamespace?: string
}

/** What the product decides on a cluster, as a new leader would: from what it reads, and from what the last one published. */
export async function evaluateOnCluster(
  catalog: Catalog,
  { kubeconfig, namespace, hcoNamespace }: OnClusterOptions,
  env: Env,
): Promise<Evaluation> {
  const images = relatedImages(env)
  const asked = { catalog, namespace, hcoNamespace, images, wantsObjects: false }
  return withClient({ kubeconfig }, (client) =>
    withCluster({ ...asked, client }, async ({ snapshot, ledger }) => {
      if (snapshot.kind === 'unavailable') throw new Error(snapshot.message)
      const decide = createStatusDecider(catalog, sha256)
      return evaluate({ catalog, decide }, snapshot.observations, ledger.memory, Date.now())
    }),
  )
}
