// What a release is made from, for .github/workflows/release.yaml:
// `node tools/release.ts check v1.2.3` fails where the tag is not what the files say, `notes` prints the version's changes, and
// `chart REPOSITORY DIGEST GRAPH_DIGEST` has the chart install these images.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'

const ROOT = join(import.meta.dirname, '..')
const VALUES = 'charts/virt-platform-autopilot/values.yaml'
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

/** The places that state a version, each with the one that it states. */
export function statedVersions(): Readonly<Record<string, string | undefined>> {
  const lock = JSON.parse(read('package-lock.json'))
  const chart = read('charts/virt-platform-autopilot/Chart.yaml')
  return {
    'package.json': JSON.parse(read('package.json')).version,
    'package-lock.json': lock.version,
    'its first package': lock.packages[''].version,
    'version of Chart.yaml': /^version: (.*)$/m.exec(chart)?.[1],
    'appVersion of Chart.yaml': /^appVersion: (.*)$/m.exec(chart)?.[1],
  }
}

/** The sections of the changelog, the newest first: `Unreleased` or a version, and what changed. */
export const sectionsOf = (changelog: string) =>
  changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n')
      return { title, changes: lines.join('\n').trim() }
    })

/** The images of a release: where they are, and which one is the baseline's and which the system's. */
interface Images {
  readonly repository: string
  readonly digest: string
  readonly graphDigest: string
}

/** The values of the chart with these images for the ones to install; throws where they are not as we know them. */
export function valuesWith(values: string, { repository, digest, graphDigest }: Images): string {
  const document = parseDocument(values)
  const stated = [
    [['image', 'repository'], repository],
    [['image', 'digest'], digest],
    // Its repository is derived from the other one's.
    [['systems', 'graph', 'image', 'digest'], graphDigest],
  ] as const
  for (const [path, value] of stated) {
    if (!document.hasIn(path)) throw new Error(`${VALUES} has no ${path.join('.')}`)
    document.setIn(path, value)
  }
  return document.toString({ lineWidth: 0 })
}

const COMMANDS: Readonly<Record<string, (...args: readonly string[]) => void>> = {
  check(tag) {
    const { title } = sectionsOf(read('CHANGELOG.md'))[0] ?? {}
    const stated = { ...statedVersions(), 'first section of CHANGELOG.md': title }
    for (const [place, version] of Object.entries(stated)) {
      if (`v${version}` === tag) continue
      console.error(`release: ${place} is ${version}, the tag ${tag}`)
      process.exitCode = 1
    }
  },
  notes() {
    console.log(sectionsOf(read('CHANGELOG.md'))[0]?.changes)
  },
  chart(repository = '', digest = '', graphDigest = '') {
    const images = { repository, digest, graphDigest }
    writeFileSync(join(ROOT, VALUES), valuesWith(read(VALUES), images))
  },
}

if (import.meta.main) {
  const [name = '', ...args] = process.argv.slice(2)
  const command = COMMANDS[name]
  if (!command) throw new Error(`"${name}" is none of ${Object.keys(COMMANDS).join(', ')}`)
  command(...args)
}
