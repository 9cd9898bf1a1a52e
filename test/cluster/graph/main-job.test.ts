import t from 'tap'
import {
  configMapPath,
  graphCluster,
  graphPath,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'

// Two ConfigMaps, of which the second waits for the first.
const MODULE = `package greeting

#Input: {
	text:  string & !=""
	extra: bool | *true
}
input: #Input
context: {name: string, namespace: string}
graph: nodes: [
	{
		id: "first"
		object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "\\(context.name)-first", data: text: input.text}
	},
	if input.extra {
		id: "second"
		dependsOn: ["first"]
		object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "\\(context.name)-second", data: of: context.namespace}
	},
]
`

t.test('a Transform becomes a graph, and the graph becomes objects', async (t) => {
  const cluster = await graphCluster(t)
  const { read, apply, untilReady, untilGone } = cluster
  const [first, second] = [configMapPath('hello-first'), configMapPath('hello-second')]

  await apply(inlineTransform('hello', MODULE, { input: { text: 'good morning' } }))
  const { status } = await untilReady('hello', 'True')
  t.match(status.resolvedCueRef, { digest: /^sha256:[0-9a-f]{64}$/ })
  t.equal((await read(first)).data.text, 'good morning')
  t.equal((await read(second)).data.of, 'shop')
  const graph = await read(graphPath('hello'))
  t.match(graph.status, {
    phase: 'Ready',
    inventory: [{ id: 'first' }, { id: 'second' }],
    nodeStatus: { first: { phase: 'Ready' }, second: { phase: 'Ready' } },
  })
  t.match(graph.spec.sourceRef, { kind: 'Transform', name: 'hello' })

  await apply(inlineTransform('hello', MODULE, { input: { text: 'good night' } }))
  await untilReady('hello', 'True')
  t.equal((await read(first)).data.text, 'good night')

  const invalid = inlineTransform('hello', MODULE, { input: { text: '' } })
  await t.rejects(apply(invalid), /422 .*spec\.input\.text: /, 'it is refused before it is stored')
  await cluster.system.webhook.stop()
  await apply(invalid)
  await untilReady('hello', { reason: 'InputInvalid', message: /^spec\.input\.text: / })
  t.equal((await read(first)).data.text, 'good night', 'what was applied before stays')

  await cluster.admin('DELETE', transformPath('hello'))
  for (const path of [transformPath('hello'), graphPath('hello'), first, second])
    await untilGone(path)
})
