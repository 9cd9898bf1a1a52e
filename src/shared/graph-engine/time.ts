const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{3})\d*)?Z$/

const DAY_MS = 86_400_000

/** The milliseconds of a time as Kubernetes writes it; undefined of anything else. Pure rooms have no `Date`. */
export function timeOf(text: unknown): number | undefined {
  const match = typeof text === 'string' ? RFC3339.exec(text) : null
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0))
  return daysUntil(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1_000 + ms
}

/** Days since 1970. Years begin in March here, so that the leap day is the last one of them. */
function daysUntil(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1
  const monthsSinceMarch = (month + 9) % 12
  const dayOfYear = Math.floor((153 * monthsSinceMarch + 2) / 5) + day - 1
  return (
    y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719_468
  )
}
