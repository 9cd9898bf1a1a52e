import { readFileSync } from 'node:fs'

// Preloaded into a process of ours, so that its wall clock is set as an administrator sets one: by so many milliseconds
// as a file says, while it runs. Timers and performance.now() go by the monotonic clock, which nobody sets.
const file = new URL(import.meta.url).searchParams.get('file') ?? ''
const RealDate = Date
const now = () => RealDate.now() + Number(readFileSync(file, 'utf8'))

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) => new target(...((given.length > 0 ? given : [now()]) as [number])),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})
