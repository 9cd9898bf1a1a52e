import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { HCO } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { respectfulOf } from './compare.ts'
import { gitopsCluster } from './gitops-cluster.ts'

const PREFIX = 'platform.kubevirt.io/'
const POINTER = '/spec/virtualization/liveMigrationConfig/allowPostCopy'
const KEPT = /allowPostCopy is kept by virt-platform-autopilot \(hco-golden-config: /
const WAY_OUT = /kubectl annotate hyperconverged .*platform\.kubevirt\.io\/patch=/

interface Stated {
  readonly allowPostCopy?: boolean
  readonly annotations?: Readonly<Record<string, string>>
}

/** The HyperConverged as Git has it, which states a managed field or does not. */
const hco = ({ annotations, ...fields }: Stated): KubeObject => ({
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: {
    name: 'kubevirt-hyperconverged',
    namespace: 'openshift-cnv',
    ...(annotations && { annotations }),
  },
  spec: { virtualization: { liveMigrationConfig: { parallelMigrationsPerCluster: 8, ...fields } } },
})
const silent = hco({})
const against = hco({ allowPostCopy: true })

t.test('where Git says something else', async (t) => {
  const cluster = await gitopsCluster(t, { webhookFlags: ['--contest-limit=2'] })
  const { read, forget, settle, quarrels, tools } = cluster
  const stored = async () => (await read(HCO)).spec.virtualization.liveMigrationConfig.allowPostCopy

  for (const tool of tools) {
    const { name, compare, sync } = tool
    // A dry run is corrected as a write is.
    const isBlind = name === 'flux' || name === 'argo-cd-server-side-diff'
    const shows = isBlind ? 'Synced' : 'OutOfSync'

    await t.test(`${name} shows ${shows}, and stores nothing of it`, async (t) => {
      await forget()
      await settle(tool, silent)
      t.equal(await compare(HCO, against), shows)
      t.equal(await sync(HCO, against), undefined)
      t.equal(await stored(), false)
      t.equal(await compare(HCO, against), shows)
    })

    await t.test(`${name} is told at once where the HyperConverged says so`, async (t) => {
      const annotations = { [`${PREFIX}enforcement`]: 'deny' }
      await forget()
      await settle(tool, hco({ annotations }))
      const denied = hco({ allowPostCopy: true, annotations })
      const error = await until('it is denied', () => sync(HCO, denied))
      t.match(error, KEPT)
      t.match(error, WAY_OUT)
      t.match(await compare(HCO, denied), isBlind ? { error: KEPT } : 'OutOfSync')
    })
  }

  // The others are Argo CD, too: what three users set to the same value is no quarrel of one.
  const [argo, , , flux] = tools
  if (!argo || !flux) throw new Error('two of the tools are gone')

  await t.test('a loop of Argo CD ends in an error that says why', async (t) => {
    await forget()
    await settle(argo, silent)
    const error = await until('it is denied', () => argo.sync(HCO, against))
    t.match(error, KEPT)
    t.match(error, WAY_OUT)
    t.match(error, `${argo.name} (field manager argocd-controller) edits managed fields`)
    t.equal(await stored(), false)
  })

  await t.test('a loop of Flux writes nothing', async (t) => {
    await forget()
    await settle(flux, silent)
    const [before, { metadata }] = [await quarrels(), await read(HCO)]
    for (let round = 0; round < 5; round++) t.equal(await flux.sync(HCO, against), undefined)
    t.equal(await quarrels(), before)
    t.equal((await read(HCO)).metadata.resourceVersion, metadata.resourceVersion)
  })

  await t.test('Argo CD that respects what it ignores contests nothing', async (t) => {
    const respecting = {
      ...argo,
      sync: async (path: string, manifest: KubeObject) =>
        argo.sync(path, respectfulOf(manifest, await read(path))),
    }
    await forget()
    await settle(respecting, silent)
    const before = await quarrels()
    t.equal(await respecting.sync(HCO, against), undefined)
    t.equal(await stored(), false)
    const annotations = { [`${PREFIX}ignore-fields`]: POINTER }
    await settle(respecting, hco({ allowPostCopy: true, annotations }))
    t.equal(await stored(), true, 'and has its way where the field is released')
    t.equal(await quarrels(), before)
  })
})
