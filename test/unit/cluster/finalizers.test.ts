import t from 'tap'
import { ApiError, type Client, type RequestInput } from '../../../src/shared/cluster/client.ts'
import { removeFinalizers } from '../../../src/shared/cluster/finalizers.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'

const OURS = 'example.com/ours'
const AT = { apiVersion: 'example.com/v1', resource: 'things' }
const LIST = '/apis/example.com/v1/things'

const thing = (name: string, ...finalizers: readonly string[]): KubeObject => ({
  apiVersion: AT.apiVersion,
  kind: 'Thing',
  metadata: { name, namespace: 'shop', uid: name, finalizers },
})

/** An API server that has these things, and lists one a page; `patched` may refuse a patch, or undo it. */
function serverOf(
  things: readonly KubeObject[],
  patched: (name: string) => void = () => undefined,
) {
  const held = new Map(
    things.map((one) => [one.metadata.name, one.metadata.finalizers as string[]]),
  )
  const patches: string[] = []
  const list = (index: number) => {
    const one = things[index]
    const items = one
      ? [{ ...one, metadata: { ...one.metadata, finalizers: held.get(one.metadata.name) } }]
      : null
    return { items, metadata: { continue: index + 1 < things.length ? String(index + 1) : '' } }
  }
  const patch = (path: string, operations: readonly { op: string; path: string }[]) => {
    const name = path.split('/').at(-1) ?? ''
    patches.push(path)
    patched(name)
    const { path: at = '' } = operations.find(({ op }) => op === 'remove') ?? {}
    held.get(name)?.splice(Number(at.split('/').at(-1)), 1)
    return {}
  }
  const send = async (path: string, { method, query, body, accept }: RequestInput = {}) => {
    const isPatch = method === 'PATCH'
    if (!isPatch) t.match(accept, /as=PartialObjectMetadataList/, 'what is in them is not read')
    const answer = isPatch ? patch(path, body as never) : list(Number(query?.continue ?? 0))
    return { status: 200, headers: {}, body: answer }
  }
  const client = { send, fieldManager: 'test' } as Partial<Client> as Client
  return { client, held, patches }
}

t.test('one finalizer is taken from all objects of a kind', async (t) => {
  await t.test('and no other, page by page', async (t) => {
    const { client, held, patches } = serverOf([
      thing('a', 'other', OURS),
      thing('b'),
      thing('c', OURS, 'other'),
    ])
    t.equal(await removeFinalizers(client, AT, OURS), 2)
    t.same([...held.values()], [['other'], [], ['other']])
    const namespaced = LIST.replace('/things', '/namespaces/shop/things')
    t.same(patches, [`${namespaced}/a`, `${namespaced}/c`])
    t.equal(await removeFinalizers(client, AT, OURS), 0)
  })

  await t.test('again where somebody wrote meanwhile', async (t) => {
    let isFirst = true
    const { client, held } = serverOf([thing('a', OURS), thing('b', OURS)], () => {
      const isRefused = isFirst
      isFirst = false
      if (isRefused) throw new ApiError('PATCH', 409, {})
    })
    t.equal(await removeFinalizers(client, AT, OURS), 2)
    t.same([...held.values()], [[], []])
  })

  await t.test('not for ever', async (t) => {
    const { client, held } = serverOf([thing('a', OURS)], () => held.get('a')?.push(OURS))
    await t.rejects(removeFinalizers(client, AT, OURS), {
      message: `somebody puts the finalizer ${OURS} back on things: end every reconciler first`,
    })
  })

  await t.test('where the kind is not served there is none', async (t) => {
    const { client } = serverOf([])
    t.equal(await removeFinalizers(client, AT, OURS), 0)
    const send = async () => {
      throw new ApiError('GET', 404, {})
    }
    t.equal(await removeFinalizers({ ...client, send }, AT, OURS), 0)
  })

  await t.test('what is refused is told', async (t) => {
    const { client } = serverOf([thing('a', OURS)], () => {
      throw new ApiError('PATCH things', 403, { message: 'you may not' })
    })
    await t.rejects(removeFinalizers(client, AT, OURS), {
      message: 'PATCH things: 403 you may not',
    })
  })
})
