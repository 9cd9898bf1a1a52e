import t from 'tap'

import { notesOn } from '../../../src/cli/notes.ts'
import type { OtherAutopilot } from '../../../src/shared/baseline/settings/other-autopilot.ts'
import {
  type DefaultActivation,
  readSettings,
} from '../../../src/shared/baseline/settings/settings.ts'
import { catalog } from '../baseline/facts.ts'

const PREFIX = 'platform.kubevirt.io'
const notes = (
  annotations: Readonly<Record<string, string>>,
  other?: OtherAutopilot,
  byDefault: DefaultActivation = 'on',
) =>
  notesOn(
    catalog,
    {
      hco: {
        apiVersion: 'hco.kubevirt.io/v1',
        kind: 'HyperConverged',
        metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt', annotations },
      },
      stated: readSettings(annotations, undefined, other, byDefault),
    },
    [],
  )

t.test('another autopilot that is active is noted, and what to do about it', async (t) => {
  const annotations = { [`${PREFIX}/autopilot`]: 'true' }
  t.match(notes(annotations, 'active'), [/is another autopilot, which/, /: kubectl annotate .*-$/])
  t.same(notes({}, 'idle'), [])
})

t.test('where it only observes by a flag, the flag is named', async (t) => {
  t.match(notes({}, undefined, 'observe'), [/--activation observe\): nothing is written/])
  t.same(notes({ [`${PREFIX}/autopilot`]: 'true' }, undefined, 'observe'), [])
})

t.test('a HyperConverged with nothing odd in it is not noted', async (t) => {
  t.same(notes({}), [])
  t.same(notes({ [`${PREFIX}/autopilot`]: 'metallb' }), [])
})

for (const [annotation, value, note] of [
  ['autopilot', 'false', /: the autopilot is switched off \(\S+\): nothing is written/],
  ['autopilot', 'observe', /: the autopilot only observes \(\S+\): nothing is written/],
  [
    'disruptive-changes',
    'maybe',
    /disruptive-changes must be "apply" or "hold", not "maybe"; changes .* wait for approval until/,
  ],
  ['autopilot', 'yes', /autopilot must be .*, not "yes"; nothing is written or corrected until/],
  ['autopilot', 'metalb', /no asset or group is named "metalb": did you mean "metallb"\?/],
  ['enable-loadaware', 'yes', /enable-loadaware means something only as "true"/],
] as const) {
  t.test(`${annotation}=${value} is noted, with whose it is`, async (t) => {
    const found = notes({ [`${PREFIX}/${annotation}`]: value })
    t.match(found, [/^HyperConverged kubevirt\/kubevirt-hyperconverged: /])
    t.match(found.join('\n'), note)
  })
}
