import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { environment, type Scope } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

const DEV = join(import.meta.dirname, '../../../tools/dev/main.ts')

/** `npm start` as a person runs it, with everything that it has printed so far. */
export function startDev(scope: Pick<Scope, 'teardown'>, args: readonly string[] = []) {
  const child = spawn(process.execPath, [DEV, ...args], { env: environment() })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
  }
  scope.teardown(async () => void (await interrupt(child)))
  const untilPrinted = (text: string) =>
    until(`"${text}" in ${printed}`, async () => printed.includes(text), 120_000)
  return { child, untilPrinted, printed: () => printed }
}

/** The commands that it prints to be tried, and the kubeconfig that they are for. */
export function toTry(printed: string) {
  const lines = printed.split('\n').filter((line) => /^ {2}\S*kubectl /.test(line))
  return {
    kubeconfig: /KUBECONFIG=(\S+)/.exec(printed)?.[1] ?? '',
    commands: lines.map((line) => line.trim()),
  }
}

/** Ctrl-C. Gives back the exit code. */
export async function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  return code
}

/** Runs a line as a person pastes it: through a shell. */
export async function paste(line: string, kubeconfig: string, kubectl: string) {
  const home = dirname(kubeconfig)
  const path = `${dirname(kubectl)}:${environment().PATH}`
  const child = spawn('/bin/sh', ['-c', line], {
    env: { PATH: path, HOME: home, KUBECONFIG: kubeconfig },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code, said }
}
