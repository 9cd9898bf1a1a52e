import type { Report } from '../report.ts'
import type { Finding } from './compare.ts'
import { type Judged, titleOf } from './judge.ts'

/** Lists what is equal to a default, and what is older than one, which is a failure. */
export function reportOnValues(judged: readonly Judged[]): Report {
  const found = judged.flatMap(({ findings }) => findings)
  const count = (wanted: Finding['verdict']) =>
    found.filter(({ verdict }) => verdict === wanted).length
  const mute = new Set(judged.filter((one) => !one.hasDefaults).map(({ asset }) => asset))
  return {
    lines: [
      ...judged
        .filter(({ findings }) => findings.length > 0)
        .flatMap((one) => [
          `${titleOf(one)}:`,
          ...one.findings.map((finding) => `  ${told(finding)}`),
        ]),
      ...(mute.size > 0 ? [`no defaults known: ${[...mute].join(', ')}`] : []),
      `${count('equal')} values equal to the default, ${count('older')} older than it`,
    ],
    isFailure: count('older') > 0,
  }
}

const told = ({ verdict, pointer, value, standard }: Finding): string =>
  verdict === 'equal'
    ? `EQUAL ${pointer} ${JSON.stringify(value)}`
    : `OLDER ${pointer} ${JSON.stringify(value)}: the default is ${JSON.stringify(standard)} now: drop it`
