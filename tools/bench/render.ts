import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { ownFolder } from '../../src/cli/assets.ts'
import { outlookOffline } from '../../src/cli/render/offline-outlook.ts'
import { statusOf } from '../../src/shared/baseline/asset-status.ts'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../src/shared/baseline/catalog/load-catalog.ts'
import { readSettings } from '../../src/shared/baseline/settings/settings.ts'
import { sha256 } from '../../src/shared/ops/digest.ts'
import type { Setup } from './cluster.ts'
import { extent, median } from './statistics.ts'
import type { Line, Section } from './table.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const NAMESPACE = 'virt-platform-autopilot'

// Everything that hardware can ask for, so that nothing is left out for want of it.
const HARDWARE = ['forcePci', 'forceNuma', 'forceGpu', 'forceVfio', 'forceUsb']

/** What it costs to render the full catalog: as a command, from its start to its end, and asset by asset. */
export async function measureRender({ effort }: Setup): Promise<Section> {
  const { renders, renderings } = effort
  const sources = { namespace: NAMESPACE, folders: [ownFolder()] }
  const catalog = loadCatalog(sources)
  const costs = costsOf(catalog, renderings)
  const active = costs.filter(({ isActive }) => isActive)
  const dearest = costs.toSorted((a, b) => b.us - a.us)[0]
  return {
    title: 'Rendering the full catalog offline',
    lines: [
      {
        ...timed(renders, () => command([MAIN, 'render'])),
        what: `the render command, ${catalog.length} assets`,
        goal: 'well under 1,000 ms',
      },
      { ...timed(renders, () => command(['-e', '0'])), what: '  Node itself' },
      {
        ...timed(renders, () => loadCatalog(sources)),
        what: '  reading and compiling the catalog',
      },
      { what: '  one active asset', unit: 'µs', ...extent(active.map(({ us }) => us)) },
      { what: `  the dearest, ${dearest?.name}`, unit: 'µs', median: dearest?.us, n: renderings },
    ],
    notes: [
      'The command is timed from spawn to exit, the objects printed; the rest within this process, once warm.',
      `One asset: its conditions, template, YAML and digest; over the ${active.length} that are active, each by its median.`,
    ],
  }
}

function timed(times: number, work: () => unknown): Omit<Line, 'what'> {
  const tookMs = Array.from({ length: times }, () => {
    const startedAt = performance.now()
    work()
    return performance.now() - startedAt
  })
  return { unit: 'ms', ...extent(tookMs) }
}

function command(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args)
  if (status !== 0) throw new Error(`node ${args.join(' ')} failed: ${stderr}`)
}

/** What one asset takes. */
interface Cost {
  readonly name: string
  readonly isActive: boolean
  /** Microseconds, by the median. */
  readonly us: number
}

function costsOf(catalog: Catalog, times: number): readonly Cost[] {
  const forced = Object.fromEntries(HARDWARE.map((flag) => [flag, true]))
  const { facts, statuses } = outlookOffline(catalog, forced, {})
  const { settings } = readSettings({})
  return catalog.map((asset) => {
    const tookUs = Array.from({ length: times }, () => {
      const startedAt = performance.now()
      statusOf(asset, facts, settings, sha256)
      return 1_000 * (performance.now() - startedAt)
    })
    const isActive = statuses.get(asset.name)?.kind === 'active'
    return { name: asset.name, isActive, us: median(tookUs) }
  })
}
