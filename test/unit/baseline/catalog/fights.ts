import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { valueAt } from '../../../../src/shared/engine/json/pointer.ts'

interface Claim {
  /** What can have one value only. */
  readonly of: string
  readonly value: string
  readonly by: string
}

/**
 * Where two objects of one cluster would undo each other: each says what a node's file, unit, kernel argument or kubelet
 * setting is, of the same pool; or which health check watches over the same nodes; and they do not say the same. Of
 * several KubeletConfigs of a pool the newest wins whatever they say, so there may be one only.
 */
export function fightsAmong(objects: readonly KubeObject[]): readonly string[] {
  const claims = objects.flatMap(claimsOf)
  return [...Map.groupBy(claims, ({ of }) => of)].flatMap(([of, rivals]) => {
    const values = new Set(rivals.map(({ value }) => value))
    return values.size > 1 ? [`${rivals.map(({ by }) => by).join(' and ')} fight over ${of}`] : []
  })
}

function claimsOf(object: KubeObject): readonly Claim[] {
  const by = `${object.kind} ${object.metadata.name}`
  const claim = (of: string, value: unknown = by): Claim => ({
    of,
    value: JSON.stringify(value),
    by,
  })
  switch (object.kind) {
    case 'MachineConfig':
      return machineClaims(object).map(([of, value]) => claim(`${poolOf(object)}: ${of}`, value))
    case 'KubeletConfig': {
      const selector = JSON.stringify(valueAt(object, ['spec', 'machineConfigPoolSelector']))
      const pool = /pools\.operator\.machineconfiguration\.openshift\.io\/(\w+)/.exec(selector)?.[1]
      const settings = Object.entries(mapAt(object, ['spec', 'kubeletConfig']))
      return [
        claim(`${pool}: the KubeletConfig`),
        ...settings.map(([name, value]) => claim(`${pool}: kubelet ${name}`, value)),
      ]
    }
    case 'NodeHealthCheck':
      return [claim(`nodes ${JSON.stringify(valueAt(object, ['spec', 'selector']))}`)]
    default:
      return []
  }
}

const poolOf = ({ metadata }: KubeObject) =>
  metadata.labels?.['machineconfiguration.openshift.io/role']

function machineClaims({ spec }: KubeObject): readonly (readonly [of: string, value: unknown])[] {
  const kernel = listAt(spec, ['kernelArguments']).map(String)
  return [
    ...kernel.map((argument) => {
      const [name = '', value] = argument.split('=')
      return [`kernel argument ${name}`, value] as const
    }),
    ...listAt(spec, ['config', 'storage', 'files']).flatMap((file) => [
      [`file ${valueAt(file, ['path'])}`, file] as const,
      ...kubeletDropIn(file),
    ]),
    ...listAt(spec, ['config', 'systemd', 'units']).flatMap((unit) => {
      const name = valueAt(unit, ['name'])
      const dropins = listAt(unit, ['dropins']).map(
        (dropin) => [`drop-in ${name} ${valueAt(dropin, ['name'])}`, dropin] as const,
      )
      const contents = valueAt(unit, ['contents'])
      return contents === undefined ? dropins : [...dropins, [`unit ${name}`, unit] as const]
    }),
  ]
}

/** What a drop-in file of the kubelet sets, one claim for each top-level setting. */
function kubeletDropIn(file: unknown): readonly (readonly [of: string, value: unknown])[] {
  if (!String(valueAt(file, ['path'])).startsWith('/etc/openshift/kubelet.conf.d/')) return []
  const [, payload = ''] = String(valueAt(file, ['contents', 'source'])).split(';base64,')
  const settings = Buffer.from(payload, 'base64')
    .toString()
    .matchAll(/^(\w+):(.*)$/gm)
  return [...settings].flatMap(([, name = '', value]) =>
    ['apiVersion', 'kind'].includes(name) ? [] : [[`kubelet ${name}`, value] as const],
  )
}

const listAt = (value: unknown, path: readonly string[]): readonly unknown[] => {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list : []
}

const mapAt = (value: unknown, path: readonly string[]) => {
  const map = valueAt(value, path)
  return isMap(map) ? map : {}
}
