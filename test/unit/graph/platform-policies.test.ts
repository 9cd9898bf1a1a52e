import t from 'tap'
import { POLICIES, policiesIn } from '../../../src/shared/graph/platform-policies.ts'
import { createModule } from '../../../src/shared/modules/module.ts'

const shipped = createModule({ 'policies.cue': 'package policies' })
if (!shipped.ok) throw new Error(shipped.error.message)
const configMap = (data: object | undefined) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ours', name: POLICIES },
  ...(data && { data }),
})

t.test('without a ConfigMap the shipped policies hold', (t) => {
  t.same(policiesIn(undefined, shipped.value), shipped)
  t.end()
})

t.test('with one its own do, and the shipped ones do not', (t) => {
  const found = policiesIn(configMap({ 'own.cue': 'package own' }), shipped.value)
  t.same(found.ok && found.value.files, { 'own.cue': 'package own' })
  t.end()
})

t.test('one that is no module is never taken for none', (t) => {
  for (const data of [undefined, {}, { 'policies.yaml': '' }]) {
    const found = policiesIn(configMap(data), shipped.value)
    t.match(
      found,
      {
        ok: false,
        error: /ConfigMap ours\/virt-platform-autopilot-graph-policies cannot be used: /,
      },
      JSON.stringify(data),
    )
  }
  t.end()
})
