import { unregister } from '../../reconciler/admission/webhook-configurations.ts'
import { RESOURCE_GRAPHS, TRANSFORMS } from '../../reconciler/graph/sources.ts'
import { standDown } from '../../reconciler/manager/leader-election.ts'
import { removeFinalizers } from '../../shared/cluster/finalizers.ts'
import { FINALIZER, GRAPH } from '../../shared/graph/names.ts'
import { withClient } from '../with-client.ts'

export interface UnregisterOptions {
  /** The system's own namespace. */
  readonly namespace: string
  readonly kubeconfig?: string
}

/** The `unregister graph` command: no write passes through us, and nothing waits for us to let it go. Safe to repeat. */
export async function unregisterGraph(options: UnregisterOptions): Promise<void> {
  const { namespace } = options
  await withClient(options, async (client) => {
    // First of all: a leader would put back what it finds missing.
    await standDown({ client, namespace, lease: GRAPH.lease })
    await unregister(client, GRAPH)
    process.stdout.write('the webhook configurations are gone\n')
    const counts: string[] = []
    for (const { at, id } of [TRANSFORMS, RESOURCE_GRAPHS])
      counts.push(`${await removeFinalizers(client, at, FINALIZER)} ${id}`)
    process.stdout.write(`our finalizers are gone, and nothing with them: ${counts.join(', ')}\n`)
  })
}
