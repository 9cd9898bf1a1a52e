import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'

/** What a change does to the nodes of a pool: nothing to workloads, a service reloaded or restarted, or a drain or reboot. */
export type Effect = 'none' | 'reload' | 'reboot'

/** What the Machine Config Operator does about changes of files, units and SSH keys; whatever is not named reboots. */
export interface DisruptionPolicies {
  readonly files: readonly { readonly path: string; readonly effect: Effect }[]
  readonly units: readonly { readonly name: string; readonly effect: Effect }[]
  readonly sshKeys: Effect
}

/** What the operator does where nothing is published about it: the defaults in OpenShift's documentation that every version since 4.16 has. */
export const DEFAULT_POLICIES: DisruptionPolicies = {
  files: [
    { path: '/etc/mco/internal-registry-pull-secret.json', effect: 'none' },
    { path: '/var/lib/kubelet/config.json', effect: 'none' },
    { path: '/etc/machine-config-daemon/no-reboot/containers-gpg.pub', effect: 'reload' },
    { path: '/etc/containers/policy.json', effect: 'reload' },
  ],
  units: [],
  sshKeys: 'none',
}

/**
 * Reads the policies in force out of the MachineConfiguration `cluster`; undefined where there is no such object.
 * What cannot be read, or is not yet what its spec says, is no policy, and so reboots.
 */
export function disruptionPoliciesOf(
  object: KubeObject | undefined,
): DisruptionPolicies | undefined {
  if (!object) return undefined
  // The operator itself waits until the status has caught up with the spec.
  const isCurrent =
    valueAt(object, ['metadata', 'generation']) ===
    valueAt(object, ['status', 'observedGeneration'])
  const published = isCurrent ? valueAt(object, CLUSTER_POLICIES) : undefined
  const entries = (list: string) => listOf(valueAt(published, [list])).filter(isMap)
  return {
    files: entries('files').flatMap(({ path, actions }) =>
      typeof path === 'string' ? [{ path, effect: effectOfActions(actions) }] : [],
    ),
    units: entries('units').flatMap(({ name, actions }) =>
      typeof name === 'string' ? [{ name, effect: effectOfActions(actions) }] : [],
    ),
    sshKeys: effectOfActions(valueAt(published, ['sshkey', 'actions'])),
  }
}

const CLUSTER_POLICIES = ['status', 'nodeDisruptionPolicyStatus', 'clusterPolicies']

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The actions that do not touch workloads; Drain, Reboot, Special and what we do not know do. */
const EFFECTS: ReadonlyMap<unknown, Effect> = new Map([
  ['None', 'none'],
  ['Reload', 'reload'],
  ['Restart', 'reload'],
  ['DaemonReload', 'reload'],
])

const effectOfActions = (actions: unknown): Effect =>
  listOf(actions).length === 0
    ? 'reboot'
    : strongest(listOf(actions).map((action) => EFFECTS.get(valueAt(action, ['type'])) ?? 'reboot'))

/** The strongest of some effects; none where there are none. */
export const strongest = (effects: readonly Effect[]): Effect =>
  (['reboot', 'reload'] as const).find((effect) => effects.includes(effect)) ?? 'none'

/** Policies as one change asks for them. */
export interface PolicyLookup {
  readonly ofFile: (path: string) => Effect
  readonly ofUnit: (name: string) => Effect
  readonly ofSshKeys: Effect
}

/** A file is under its own policies, else under those of the closest folder. */
export function lookUpIn({ files, units, sshKeys }: DisruptionPolicies): PolicyLookup {
  const folders = files.map(({ path, effect }) => ({ path: cleanPath(path), effect }))
  const ofFolderAbove = (path: string): Effect => {
    const clean = cleanPath(path)
    const above = folders.filter((folder) => clean.startsWith(`${folder.path}/`))
    const closest = Math.max(...above.map((folder) => folder.path.length))
    return together(above.filter((folder) => folder.path.length === closest))
  }
  return {
    ofFile: (path) => {
      const own = files.filter((file) => file.path === path)
      return own.length > 0 ? together(own) : ofFolderAbove(path)
    },
    ofUnit: (name) => together(units.filter((unit) => unit.name === name)),
    ofSshKeys: sshKeys,
  }
}

/** What several policies for the same thing come to; without any, it reboots. */
const together = (policies: readonly { readonly effect: Effect }[]): Effect =>
  policies.length === 0 ? 'reboot' : strongest(policies.map(({ effect }) => effect))

/** An absolute path without empty, `.` and `..` segments, as the operator compares folders. */
function cleanPath(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
