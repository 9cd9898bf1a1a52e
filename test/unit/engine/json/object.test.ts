import t from 'tap'
import {
  annotationOf,
  groupOf,
  isKubeObject,
  isMap,
  titleOf,
} from '../../../../src/shared/engine/json/object.ts'

const OBJECT = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }

t.test('only a JSON map is a map', async (t) => {
  t.ok(isMap({}))
  for (const value of [null, undefined, [], 'a', 1, true]) t.notOk(isMap(value), String(value))
})

t.test('an object has an apiVersion, a kind and a name', async (t) => {
  t.ok(isKubeObject(OBJECT))
  t.ok(isKubeObject({ ...OBJECT, spec: {} }))
  const others = [
    null,
    [],
    {},
    { ...OBJECT, apiVersion: 1 },
    { ...OBJECT, kind: undefined },
    { ...OBJECT, metadata: undefined },
    { ...OBJECT, metadata: [] },
    { ...OBJECT, metadata: {} },
    { ...OBJECT, metadata: { name: 1 } },
  ]
  for (const other of others) t.notOk(isKubeObject(other), JSON.stringify(other))
})

t.test('the core group has the empty name', async (t) => {
  t.equal(groupOf('v1'), '')
  t.equal(groupOf('apps/v1'), 'apps')
  t.equal(groupOf('machineconfiguration.openshift.io/v1'), 'machineconfiguration.openshift.io')
})

t.test('the title of an object says where it is', async (t) => {
  t.equal(titleOf(OBJECT), 'ConfigMap x')
  t.equal(titleOf({ ...OBJECT, metadata: { name: 'x', namespace: 'ns' } }), 'ConfigMap ns/x')
  t.equal(titleOf({ ...OBJECT, metadata: { name: 'x', namespace: '' } }), 'ConfigMap x')
})

t.test('reads an annotation of the object itself', async (t) => {
  const annotated = { ...OBJECT, metadata: { name: 'x', annotations: { a: '1', empty: '' } } }
  t.equal(annotationOf(annotated, 'a'), '1')
  t.equal(annotationOf(annotated, 'empty'), '')
  t.equal(annotationOf(annotated, 'b'), undefined)
  t.equal(annotationOf(annotated, 'toString'), undefined, 'nothing inherited')
  t.equal(annotationOf(OBJECT, 'a'), undefined)
  t.equal(annotationOf(undefined, 'a'), undefined)
})
