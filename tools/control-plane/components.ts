import { join } from 'node:path'
import { type Leashed, lastLines, spawnLeashed } from './processes.ts'

/** The processes of one control plane. */
export interface Components {
  start(name: string, file: string, args: readonly string[]): Leashed
  /** From now on, says so when this component ends and nobody asked it to. */
  watch(component: Leashed): void
  kill(name: string): Promise<void>
  /** Kills all of them, the last one first. */
  killAll(): Promise<void>
  pids(): Readonly<Record<string, number>>
}

// Not ours: etcd takes flags from it. With four times the garbage the API server needs 15 % less
// processor time until it is ready, and 400 MB in place of 290. One that many test files share would
// come to 1.8 GB in an hour: above the limit it collects more often.
const ENVIRONMENT = { PATH: '/usr/bin:/bin', GOGC: '400', GOMEMLIMIT: '1GiB' }

/** A control plane's processes, none yet, which log to files in its data directory. */
export function createComponents(dataDir: string, print: (line: string) => void): Components {
  const running = new Map<string, Leashed>()
  async function kill(name: string): Promise<void> {
    const component = running.get(name)
    running.delete(name)
    await component?.kill()
  }
  return {
    start(name, file, args) {
      const component = spawnLeashed({
        name,
        file,
        args,
        cwd: dataDir,
        env: { ...ENVIRONMENT, HOME: dataDir },
        logFile: join(dataDir, `${name}.log`),
      })
      running.set(name, component)
      return component
    },
    watch(component) {
      void component.ended.then((how) => {
        if (running.get(component.name) !== component) return
        running.delete(component.name)
        print(`${component.name} ended by itself (${how}): ${lastLines(component.output())}`)
      })
    },
    kill,
    async killAll() {
      for (const name of [...running.keys()].reverse()) await kill(name)
    },
    pids: () => Object.fromEntries([...running.values()].map(({ name, pid }) => [name, pid])),
  }
}
