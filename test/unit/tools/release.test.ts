import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { sectionsOf, statedVersions, valuesWith } from '../../../tools/release.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENTRY = join(ROOT, 'tools/release.ts')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const { version } = JSON.parse(read('package.json'))
const VALUES = read('charts/virt-platform-autopilot/values.yaml')
const DIGEST = `sha256:${'ab'.repeat(32)}`
const GRAPH_DIGEST = `sha256:${'cd'.repeat(32)}`

const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, [ENTRY, ...args], { encoding: 'utf8' })

t.test('one version everywhere', async (t) => {
  for (const [place, stated] of Object.entries(statedVersions())) t.equal(stated, version, place)
  const titles = sectionsOf(read('CHANGELOG.md')).map(({ title }) => title)
  t.ok(titles.length > 0)
  t.same(
    titles.filter((title, index) => !(index === 0 && title === 'Unreleased')).slice(0, 1),
    titles.some((title) => title !== 'Unreleased') ? [version] : [],
    'the newest version of the changelog is the one that is stated',
  )
})

t.test('the sections of a changelog', async (t) => {
  const text = '# Changelog\n\nWhat.\n\n## 1.1.0\n\n- **b**\n\n  ### c\n\n## 1.0.0\n\n- a\n'
  t.same(sectionsOf(text), [
    { title: '1.1.0', changes: '- **b**\n\n  ### c' },
    { title: '1.0.0', changes: '- a' },
  ])
})

t.test('a tag that is no version of ours is refused, place by place', async (t) => {
  const { status, stderr } = release('check', 'v99.0.0')
  t.equal(status, 1)
  for (const place of Object.keys(statedVersions()))
    t.match(stderr, `release: ${place} is ${version}, the tag v99.0.0\n`)
  t.notMatch(release('check', `v${version}`).stderr, 'package.json')
})

t.test('the notes are the newest section', async (t) => {
  const [newest] = sectionsOf(read('CHANGELOG.md'))
  t.equal(release('notes').stdout, `${newest?.changes}\n`)
  t.ok(newest?.changes)
})

t.test('the chart of a release installs its images', async (t) => {
  const images = { repository: 'example.com/a/b', digest: DIGEST, graphDigest: GRAPH_DIGEST }
  const before = parse(VALUES)
  const { systems } = before
  t.same(parse(valuesWith(VALUES, images)), {
    ...before,
    image: { ...before.image, repository: images.repository, digest: DIGEST },
    systems: {
      ...systems,
      graph: { ...systems.graph, image: { ...systems.graph.image, digest: GRAPH_DIGEST } },
    },
  })
  t.throws(() => valuesWith(VALUES.replaceAll('digest:', 'digests:'), images), /digest/)
  t.throws(() => valuesWith(VALUES.replace('image:', 'images:'), images), /repository/)
  t.throws(() => valuesWith(VALUES.replace('systems:', 'system:'), images), /systems\.graph/)
})
