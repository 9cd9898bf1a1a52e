import type { Report } from '../../reconciler/outcome.ts'
import { describeOutcome } from '../../reconciler/outcome-telling.ts'
import type { Reporter } from '../../reconciler/report.ts'
import type { Catalog } from '../../shared/catalog/catalog.ts'
import { titleOf } from '../../shared/engine/object.ts'
import type { Print } from './environment.ts'

export interface Preview {
  readonly reporter: Reporter
  /** Resolves when every asset was reported once, or nothing can be seen. */
  readonly isComplete: Promise<void>
}

/** A reporter for people: what each asset would change, one line each, again when it changes. */
export function createPreview(catalog: Catalog, print: Print): Preview {
  const lines = new Map<string, string>()
  const { promise, resolve } = Promise.withResolvers<void>()
  const say = (topic: string, line: string) => {
    if (lines.get(topic) !== line) print(`  ${line}`)
    lines.set(topic, line)
    if (catalog.every(({ name }) => lines.has(name))) resolve()
  }
  return {
    isComplete: promise,
    reporter: {
      report: (report) => say(report.asset.name, lineOf(report)),
      failed: ({ name }, _hco, error) => say(name, `${name}: cannot be compared: ${error.message}`),
      blind(blind) {
        if (blind.reason === 'NotYet') return
        say('cluster', blind.message)
        resolve()
      },
      settings(_hco, { problems }, unknown) {
        const notes = [...problems.map(({ message }) => message), ...unknown]
        if (notes.length > 0) say('settings', `HyperConverged: ${notes.join('; ')}`)
      },
      pending: () => undefined,
      reset: () => undefined,
    },
  }
}

function lineOf(report: Report): string {
  const { asset, outcome } = report
  const { message, events, fields } = describeOutcome(report)
  const title =
    'plan' in outcome ? titleOf(outcome.plan.desired) : `${asset.object.kind} ${asset.object.name}`
  const notes = events.map(({ note }) => note)
  const because = typeof fields.because === 'string' ? [fields.because] : []
  return `${title} (${asset.name}): ${[...notes, ...because][0] ?? message}`
}
