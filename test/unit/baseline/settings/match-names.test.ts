import fc from 'fast-check'
import t from 'tap'
import { matchesGlob } from '../../../../src/shared/baseline/settings/match-names.ts'
import { seed } from '../../engine/merge/schemas.ts'

const vectors: readonly (readonly [pattern: string, text: string, isMatch: boolean])[] = [
  ['swap-enable', 'swap-enable', true],
  ['swap-enable', 'swap-enable-master', false],
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['*', 'anything/at-all', true],
  ['swap*', 'swap-enable', true],
  ['swap*', 'swap', true],
  ['swap*', 'no-swap', false],
  ['*-enable', 'swap-enable', true],
  ['*-enable', 'swap-enabled', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['ab*ba', 'aba', false],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a*bc*c', 'abc', false],
  ['a**c', 'abc', true],
  ['s?ap', 'swap', false],
  ['s.ap', 'swap', false],
  ['[sw]*', 'swap', false],
  ['Swap*', 'swap-enable', false],
]

for (const [pattern, text, isMatch] of vectors) {
  t.test(
    `${pattern || 'nothing'} ${isMatch ? 'matches' : 'does not match'} ${text || 'nothing'}`,
    async (t) => {
      t.equal(matchesGlob(pattern, text), isMatch)
    },
  )
}

t.test('agrees with a regular expression on any pattern', async (t) => {
  const some = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
  const property = fc.property(some, some, (pattern, text) => {
    const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
    t.equal(matchesGlob(pattern, text), expression.test(text), `${pattern} ${text}`)
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('reads a text once, however many stars the pattern has', async (t) => {
  let reads = 0
  const text = 'a'.repeat(5_000)
  // Counts the searches, since time is no measure on a busy machine.
  const counted = Object.assign(Object(text) as string, {
    indexOf: (piece: string, at: number) => {
      reads++
      return text.indexOf(piece, at)
    },
  })
  t.notOk(matchesGlob(`${'a*'.repeat(50)}b`, text))
  t.ok(matchesGlob(`${'a*'.repeat(50)}a`, counted))
  t.equal(reads, 49)
})
