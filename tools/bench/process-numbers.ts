import { readFileSync } from 'node:fs'

// What every Linux in use has as USER_HZ.
const TICKS_PER_SECOND = 100
const BYTES_PER_KB = 1024

/** The processor time that a process has used, in seconds; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  const stat = procFile(pid, 'stat')
  // The name, in parentheses, may hold spaces; user and system time are the 12th and 13th after it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The memory of a process in MB, now and at its peak; undefined where there is no /proc. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } | undefined {
  const status = procFile(pid, 'status')
  if (status === undefined) return undefined
  const megabytes = (name: string) => {
    const kilobytes = Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1])
    return (kilobytes * BYTES_PER_KB) / 1e6
  }
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
