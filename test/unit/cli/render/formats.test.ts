import t from 'tap'
import { parseAllDocuments } from 'yaml'

import { FORMATS, type RenderedAsset } from '../../../../src/cli/render/formats.ts'
import type { AssetStatus } from '../../../../src/shared/baseline/asset-status.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { assetNamed } from '../../baseline/facts.ts'

const baseline: KubeObject = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'MetalLB',
  metadata: { name: 'metallb', namespace: 'metallb-system', labels: { a: 'on' } },
  spec: { nodeSelector: { 'x/y': '' }, quoted: 'yes', number: '0x1F', long: 'word '.repeat(50) },
}
const digest = 'd'.repeat(64)
const rendered = (name: string, status: AssetStatus): RenderedAsset => {
  const asset = assetNamed(name)
  return { asset, status, title: `${asset.object.kind} ${asset.object.name}` }
}
const ALL: readonly RenderedAsset[] = [
  rendered('hco-golden-config', { kind: 'tombstone' }),
  rendered('metallb', { kind: 'active', baseline, digest }),
  rendered('swap-enable', { kind: 'inactive', reason: 'Excluded', message: 'switched\noff' }),
  rendered('pci-passthrough', { kind: 'failed', reason: 'RenderFailed', message: 'broken' }),
  rendered('node-health-standard', { kind: 'active', baseline, digest }),
]
const WHOLE = { metadataOnly: false, decode: false }

t.test('yaml: a document for each baseline, with its asset and why it is kept', async (t) => {
  const text = FORMATS.yaml(ALL, WHOLE)
  t.same(
    parseAllDocuments(text).map((document) => document.toJS()),
    [baseline, baseline],
  )
  t.match(text, /^# metallb \(network\): services of VMs need addresses outside a cloud too\napi/)
  t.match(text, /\n---\n# node-health-standard \(remediation\): .*\napiVersion: /)
  t.match(text, /"on"/, 'what other readers take for a boolean is quoted')
  t.equal(FORMATS.yaml([], WHOLE), '')
})

t.test('json: one list', async (t) => {
  t.same(JSON.parse(FORMATS.json(ALL, WHOLE)), {
    apiVersion: 'v1',
    kind: 'List',
    items: [baseline, baseline],
  })
})

t.test('metadata alone, where that is asked for', async (t) => {
  const { spec: _spec, ...rest } = baseline
  const only = { ...WHOLE, metadataOnly: true }
  t.same(JSON.parse(FORMATS.json(ALL, only)).items, [rest, rest])
  t.same(parseAllDocuments(FORMATS.yaml(ALL, only))[0]?.toJS(), rest)
})

t.test('payloads as what they encode, where that is asked for', async (t) => {
  const contents = (source: string) => ({ ...baseline, spec: { contents: { source } } })
  const packed = contents('data:;base64,YQpiCg==')
  const found = [rendered('swap-enable', { kind: 'active', baseline: packed, digest })]
  const read = { ...WHOLE, decode: true }
  t.same(JSON.parse(FORMATS.json(found, WHOLE)).items, [packed])
  t.same(JSON.parse(FORMATS.json(found, read)).items, [contents('a\nb\n')])
  t.match(FORMATS.yaml(found, read), /source: \|\n +a\n +b\n/, 'line by line')
})

t.test('status: every asset on one line, in columns that awk can tell apart', async (t) => {
  const lines = FORMATS.status(ALL).trimEnd().split('\n')
  t.equal(lines.length, 6)
  t.same(
    lines.map((line) => line.split(/ +/).slice(0, 3)),
    [
      ['ASSET', 'STATE', 'BASELINE'],
      ['hco-golden-config', 'Tombstone', '-'],
      ['metallb', 'Active', digest],
      ['swap-enable', 'Excluded', '-'],
      ['pci-passthrough', 'RenderFailed', '-'],
      ['node-health-standard', 'Active', digest],
    ],
  )
  t.match(lines[3], /MachineConfig 90-worker-swap-online +switched\\u000aoff$/)
  t.match(lines[2], /services of VMs need addresses outside a cloud too$/)
  t.equal(new Set(lines.map((line) => line.search(/OBJECT|HyperC|MetalLB|Machine|NodeH/))).size, 1)
})
