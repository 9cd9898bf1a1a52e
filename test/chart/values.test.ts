import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { closed } from '../../src/shared/baseline/catalog/schema-parts.ts'
import { valuesFile } from '../../tools/generate/chart/values-file.ts'
import { CHART, helmOn, NAMESPACE, objectsIn, templateArgs } from './helm.ts'
import { CHOSEN } from './matrix.ts'
import { type Loose, podsIn } from './pods.ts'

t.test('the values of the chart', async (t) => {
  const helm = await helmOn()
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))

  for (const text of ['2024', '1e3', 'true', 'null']) {
    for (const mode of ['own', 'cert-manager', 'service-ca']) {
      await t.test(`${text} is a text wherever a text is wanted: ${mode}`, async (t) => {
        const said = async (text: string) => {
          const { certificates, systems, preInstall: _, ...rest } = saying(text, schema) as Loose
          const values = {
            ...rest,
            ...CHOSEN,
            certificates: { ...certificates, mode },
            preInstall: { diff: { enabled: true } },
            // What lives in one namespace may not in another's.
            systems: {
              graph: {
                ...systems.graph,
                enabled: true,
                namespace: `${text}1`,
                enroll: [`${text}2`],
              },
            },
          }
          const { stdout, stderr } = await helm(templateArgs(text), values)
          t.equal(stderr, '')
          return JSON.stringify(objectsIn(stdout))
        }
        const harmless = `x${text}`
        const wanted = await said(harmless)
        t.ok(wanted.split(harmless).length > 50)
        t.equal(await said(text), wanted.replaceAll(harmless, text))
      })
    }
  }

  await t.test('an annotation of ours is there once, and as somebody says', async (t) => {
    const podAnnotations = { 'openshift.io/required-scc': 'nonroot-v2', 'example.com/scrape': 'no' }
    const { stdout } = await helm(templateArgs(), { ...CHOSEN, podAnnotations })
    const pods = podsIn(objectsIn(stdout))
    t.ok(pods.length > 0)
    for (const { annotations } of pods) t.strictSame(annotations, podAnnotations)
  })

  await t.test(
    'as part of another chart, it is given that one’s globals, and a switch',
    async (t) => {
      const name = 'virt-platform-autopilot'
      const dependency = { name, version: '*', condition: `${name}.enabled` }
      const site = { apiVersion: 'v2', name: 'site', version: '0.1.0', dependencies: [dependency] }
      const parent = t.testdir({ 'Chart.yaml': JSON.stringify(site) })
      cpSync(CHART, join(parent, 'charts', name), { recursive: true })
      const [, release = '', , ...flags] = templateArgs(NAMESPACE)
      const rendered = async (enabled: boolean) => {
        const values = { global: { registry: 'a' }, [name]: { ...CHOSEN, enabled } }
        const { stdout, stderr } = await helm(['template', release, parent, ...flags], values)
        t.equal(stderr, '')
        return objectsIn(stdout)
      }
      t.ok((await rendered(true)).some(({ kind }) => kind === 'Deployment'))
      t.same(await rendered(false), [])
    },
  )

  t.test('one that nobody describes is not written', async (t) => {
    const values = (description: string) =>
      closed({ image: closed({ tag: Type.String({ default: '', description }) }) })
    t.throws(() => valuesFile(values('')), /the value image\.tag has no description/)
    t.match(valuesFile(values('which one')), 'image:\n  # which one\n  tag: ""\n')
  })
})

/** Values that say one text wherever they may say any. */
function saying(text: string, schema: Loose): unknown {
  const { type, pattern = '', properties, items, additionalProperties, anyOf = [] } = schema
  if (type === 'string') return new RegExp(pattern).test(text) ? text : undefined
  if (type === 'array') return asList(saying(text, items))
  if (properties) return asMap(properties, (member) => saying(text, member))
  if (additionalProperties?.type === 'string') return { 'example.com/name': text }
  return anyOf.map((one: Loose) => saying(text, one)).find(Boolean)
}

const asList = (item: unknown) => (item === undefined ? undefined : [item])

function asMap(properties: Loose, textsIn: (member: Loose) => unknown) {
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const value = textsIn(member)
    return value === undefined ? [] : [[name, value]]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
