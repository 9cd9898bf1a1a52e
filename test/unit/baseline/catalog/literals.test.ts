import t from 'tap'
import { loadCatalog } from '../../../../src/shared/baseline/catalog/load-catalog.ts'
import { samplesFor } from '../../../../src/shared/baseline/check/template-samples.ts'
import { readAsset } from '../facts.ts'

const NAMESPACE = 'virt-platform-autopilot'

/** What no sample has: an object that holds it does not print what the template is given. */
const LITERALS: Readonly<Record<string, RegExp>> = {
  'facts.hco.namespace':
    /(?<![\w./-])openshift-cnv(?![\w./-])|\bnamespace: kubevirt-hyperconverged(?![\w.-])/,
  'object.namespace': /\bnamespace: virt-platform-autopilot(?![\w.-])/,
  // A taint is written as an image with a tag is: `node-role.kubernetes.io/infra:NoSchedule`.
  'facts.images':
    /@sha256:[0-9a-f]{8}|(?<![\w./:-])[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:\/[a-z0-9._-]+)+:(?!(?:Prefer)?No)[A-Za-z0-9_][\w.-]*/,
  // A node role, a label of a pool, or the role that a MachineConfig is for.
  pool: /(?<![\w./-])[a-z0-9-]+(?:\.[a-z0-9-]+)+\/(?:(worker|master)(?![\w./-])|role: (worker|master)(?![\w.-]))/,
}

/** The members of an object at any depth, as YAML has them; texts of several lines are files, which may hold anything. */
const linesOf = (container: object): readonly string[] =>
  Object.entries(container).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null
      ? [`${name}:`, ...linesOf(member)]
      : [`${name}: ${member}`].filter((line) => !line.includes('\n')),
  )

const folders = [{ title: 'catalog.yaml', read: readAsset }]
const assets = loadCatalog({ folders, namespace: NAMESPACE }).filter((asset) => !asset.isTombstone)

for (const asset of assets) {
  t.test(`${asset.name} prints what another cluster has otherwise`, async (t) => {
    for (const { locals, when } of samplesFor(asset, NAMESPACE)) {
      const rendered = asset.render({ ...locals, file: asset.file })
      const lines = linesOf(rendered ?? {})
      for (const [name, literal] of Object.entries(LITERALS)) {
        if (name === 'pool' && asset.pool === undefined) continue
        t.same(
          lines.filter((line) => literal.test(line)),
          [],
          `${name}, ${when}`,
        )
      }
    }
  })

  t.test(`the template of ${asset.name} reads all that its entry lists`, async (t) => {
    const text = readAsset(asset.template)
    const listed = [
      ...asset.files.map((name) => name.slice(name.lastIndexOf('/') + 1)),
      ...Object.keys({ ...asset.enums, ...asset.fields }),
      ...asset.sections.map(({ name }) => name),
      ...asset.hcoFields.map((pointer) => pointer.slice(pointer.lastIndexOf('/') + 1)),
    ]
    t.same(
      listed.filter((name) => !text.includes(name)),
      [],
    )
  })
}
