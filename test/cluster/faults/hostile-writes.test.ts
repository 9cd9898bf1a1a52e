import t from 'tap'
import { PREFIX } from '../../../src/shared/baseline/annotations.ts'
import { LOAD_FLAGS } from '../certificates/admission-load.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO, SWAP } from '../harness/objects.ts'

const MERGE = 'application/merge-patch+json'
const MiB = 1 << 20

const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const digits = index.toString(16).padStart(8, '0')
    return `${digits.slice(0, 4)}:${digits.slice(4)}`
  }).join()
const annotated = (key: string, value: string) => ({
  metadata: { annotations: { [`${PREFIX}${key}`]: value } },
})
const copies = [
  { op: 'add', path: '/spec/x', value: Array.from({ length: 100 }, () => 0) },
  ...Array.from({ length: 950 }, (_, index) => ({
    op: 'copy',
    from: '/spec/x',
    path: `/spec/x${index}`,
  })),
]
const junk = (bytes: number) => Array.from({ length: bytes / 3 }, () => ({}))

/** Writes that cost their author a line, and what they are told. */
const writes: readonly (readonly [says: string, path: string, body: object, told: RegExp])[] = [
  [
    'as many devices as an object can hold',
    HCO,
    annotated('vfio-device-ids', ids(26_000)),
    /vfio-device-ids must not be longer than 1024 characters/,
  ],
  [
    'more devices than that',
    HCO,
    annotated('usb-devices', ids(60_000)),
    /usb-devices must not be longer than 1024 characters/,
  ],
  [
    'a YAML list of nothing but open brackets',
    HCO,
    annotated('disabled-resources', '{'.repeat(16_000)),
    /disabled-resources must not nest deeper than 8 levels/,
  ],
  [
    'a YAML list of mistakes',
    HCO,
    annotated('disabled-resources', '- "\n'.repeat(4_000)),
    /disabled-resources must not list so much/,
  ],
  [
    'a patch of copies',
    HCO,
    annotated('patch', JSON.stringify(copies)),
    /operation \d+ at \/spec\/x\d+: the object and all that the patch puts into it must not have more than 20000 values/,
  ],
  [
    'five thousand annotations',
    HCO,
    {
      metadata: {
        annotations: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, index) => [`${PREFIX}k${index}`, '']),
        ),
      },
    },
    /must not start more than 100 annotations of one object/,
  ],
  [
    'a million empty maps',
    SWAP,
    { spec: { config: { junk: junk(2.9 * MiB) } } },
    /it has more than 20000 values, too many for virt-platform-autopilot to judge/,
  ],
]

t.test('writes that are made to take long', async (t) => {
  const cluster = await autopilotCluster(t, { webhookFlags: LOAD_FLAGS })
  const { admin, read } = cluster
  const stored = async (path: string) => {
    const { spec, metadata } = await read(path)
    return { spec, annotations: metadata.annotations }
  }
  const edit = () =>
    admin(
      'PATCH',
      `${HCO}?fieldManager=alice`,
      { spec: { deployment: { uninstallStrategy: 'RemoveWorkloads' } } },
      MERGE,
    )
  const kept = (await read(HCO)).spec.deployment
  const { failedOpen: before } = await callsOf(cluster)
  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault:
        'a write holds as much as it may: devices, mistakes in YAML, copies, annotations, empty maps',
      outcome: 'it is refused at once, and nobody else’s write slips by meanwhile',
    },
    async (t) => {
      for (const [says, path, body, told] of writes) {
        for (const query of ['', '?dryRun=All']) {
          await t.test(`${says}${query && ', as a dry run'}: refused, in time`, async (t) => {
            const was = await stored(path)
            const [{ status, body: answer }, ...others] = await Promise.all([
              admin<{ readonly message: string }>('PATCH', `${path}${query}`, body, MERGE),
              edit(),
              edit(),
            ])
            t.equal(status, 403)
            t.match(answer.message, told)
            t.same(await stored(path), was, 'nothing of it is stored')
            for (const other of others) t.match(other.status, /200|409/)
            t.same((await read(HCO)).spec.deployment, kept, 'and nobody else slips by')
          })
        }
      }
      const { failedOpen } = await callsOf(cluster)
      t.equal(failedOpen, before, 'no call was given up')
    },
  )
})
