import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'

import { type Content, link, nodeRoot } from './node-root.ts'

/** A block device of a fake machine; a disk, unless it is part of one or made of others. */
export interface Device {
  readonly partOf?: string
  readonly madeOf?: readonly string[]
  /** What the device mapper says of it. */
  readonly uuid?: string
}

/** A fake machine, as its kernel shows it. */
export interface Machine {
  readonly devices?: Readonly<Record<string, Device>>
  /** Links below /dev, each to a device. */
  readonly links?: Readonly<Record<string, string>>
  /** What is mounted, in this order: source and mount point. */
  readonly mounts?: readonly (readonly [source: string, point: string])[]
  /** The text of /proc/swaps. */
  readonly swaps: string
  /** Devices of which the kernel keeps a latency target for the system, and which; all that queue, and 5000. */
  readonly keeps?: Readonly<Record<string, number>>
  /** What systemctl does before it makes the kernel keep that; nothing. */
  readonly systemctl?: string
}

/** Where the fake systemctl notes how it was called. */
export const CALLS = 'systemctl.calls'

/** The root folder of a fake machine. */
export async function machineRoot(t: Test, machine: Machine): Promise<string> {
  const { devices = {}, links = {}, mounts = [], swaps, systemctl = '' } = machine
  const names = Object.keys(devices)
  const numbers = Object.fromEntries(names.map((name, index) => [name, `8:${16 * index}`]))
  const queues = names.filter((name) => hasQueue(devices[name] ?? {}))
  const keeps = machine.keeps ?? Object.fromEntries(queues.map((name) => [name, 5000]))
  const kept = Object.entries(keeps).map(([name, target]) => `${numbers[name]} target=${target}\n`)
  const root = nodeRoot(t, {
    'proc/swaps': swaps,
    'proc/mounts': mounts.map(([source, point]) => `${source} ${point} xfs rw 0 0\n`).join(''),
    ...Object.assign(
      {},
      ...Object.entries(devices).map(([name, device]) => entry(t, name, device, numbers[name])),
    ),
    ...Object.fromEntries(
      Object.entries(links).map(([path, device]) => [
        `dev/${path}`,
        link(t, `dev/${path}`, `dev/${device}`),
      ]),
    ),
    'sys/fs/cgroup/system.slice': {},
    'io.latency': kept.join(''),
    'usr/bin': {},
  })
  const commands = [
    `echo "$@" >> ${root}/${CALLS}`,
    systemctl,
    `cp ${root}/io.latency ${root}/sys/fs/cgroup/system.slice/io.latency`,
  ]
  const program = join(root, 'usr/bin/systemctl')
  await writeFile(program, `#!/bin/sh\n${commands.join('\n')}\n`, { mode: 0o755 })
  return root
}

// Disks, and what joins several paths to one.
const hasQueue = ({ partOf, madeOf, uuid = '' }: Device): boolean =>
  uuid.startsWith('mpath-') || (!partOf && !madeOf)

function entry(
  t: Test,
  name: string,
  { partOf, madeOf = [], uuid }: Device,
  number = '',
): Readonly<Record<string, Content>> {
  const listed = `sys/class/block/${name}`
  const folder = `sys/devices/${partOf === undefined ? name : `${partOf}/${name}`}`
  return {
    [`dev/${name}`]: '',
    [listed]: link(t, listed, folder),
    [`${folder}/dev`]: `${number}\n`,
    ...(partOf === undefined ? { [`${folder}/slaves`]: {} } : { [`${folder}/partition`]: '1\n' }),
    ...Object.fromEntries(madeOf.map((slave) => [`${folder}/slaves/${slave}`, ''])),
    ...(uuid !== undefined && { [`${folder}/dm/uuid`]: `${uuid}\n` }),
  }
}
