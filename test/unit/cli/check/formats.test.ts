import t from 'tap'

import { FORMATS } from '../../../../src/cli/check/formats.ts'
import { type Finding, findingOn } from '../../../../src/cli/check/judge.ts'

const finding = (verdict: Finding['verdict'], more: Partial<Finding> = {}): Finding => ({
  file: 'a b/hco.yaml',
  line: 7,
  object: 'MetalLB n/metallb',
  asset: 'metallb',
  verdict,
  reason: 'Drift',
  messages: [],
  ...more,
})
const ALL: readonly Finding[] = [
  finding('allowed', { reason: 'InSync' }),
  finding('corrected', { messages: ['kept at <"1"> & so on', 'To change it: \u001b[2J'] }),
  finding('denied', { file: './x/y.yaml', messages: ['refused\nTo own it: b\uFFFF'] }),
  finding('unknown', { file: '-', reason: 'SchemaUnknown', messages: ['no schema'] }),
]
const FAULT = findingOn({ file: 'c/x\n.yaml', line: 2, message: 'cannot read c/x\n.yaml: why' })
const paint = (verdict: Finding['verdict']) => verdict.toUpperCase()

t.test('text: where it is, what becomes of it, and what its author is told', async (t) => {
  t.same(FORMATS.text(ALL, paint).split('\n'), [
    'a b/hco.yaml:7: MetalLB n/metallb: ALLOWED (InSync)',
    'a b/hco.yaml:7: MetalLB n/metallb: CORRECTED (Drift)',
    '  kept at <"1"> & so on',
    '  To change it: \\u001b[2J',
    './x/y.yaml:7: MetalLB n/metallb: DENIED (Drift)',
    '  refused',
    '  To own it: b\uFFFF',
    'standard input:7: MetalLB n/metallb: UNKNOWN (SchemaUnknown)',
    '  no schema',
    '',
  ])
  t.equal(FORMATS.text([], paint), '')
})

t.test('a file that cannot be read is told in every format', async (t) => {
  t.same(FORMATS.text([FAULT], paint).split('\n'), [
    'c/x\\u000a.yaml:2: UNKNOWN (Unreadable)',
    '  cannot read c/x\\u000a.yaml: why',
    '',
  ])
  t.match(JSON.parse(FORMATS.sarif([FAULT])).runs[0].results, [
    { ruleId: 'unknown', message: { text: /^cannot read c\/x/ } },
  ])
  t.match(FORMATS.junit([FAULT]), /name="c\/x\\u000a.yaml">\n +<error type="unknown\/Unreadable"/)
})

t.test('json: everything', async (t) => {
  t.same(JSON.parse(FORMATS.json(ALL)), { findings: ALL })
})

t.test('sarif: has what SARIF 2.1.0 requires, and a result for each fault', async (t) => {
  const log = JSON.parse(FORMATS.sarif(ALL))
  t.equal(log.version, '2.1.0')
  const [{ tool, results }] = log.runs
  t.type(tool.driver.name, 'string')
  const rules = tool.driver.rules.map(({ id }: { id: string }) => id)
  const uris = []
  for (const { ruleId, level, message, locations } of results) {
    t.ok(rules.includes(ruleId))
    t.ok(['none', 'note', 'warning', 'error'].includes(level))
    t.type(message.text, 'string')
    const { artifactLocation, region } = locations[0].physicalLocation
    t.equal(region.startLine, 7)
    uris.push(artifactLocation.uri)
  }
  t.same(uris, ['a%20b/hco.yaml', 'x/y.yaml', 'stdin'])
  t.match(results[1], { level: 'error', message: { text: /^MetalLB n\/metallb \(metallb\)\nref/ } })
  const [found] = JSON.parse(FORMATS.sarif([finding('denied', { file: '/r/a b.yaml' })])).runs[0]
    .results
  t.equal(found.locations[0].physicalLocation.artifactLocation.uri, 'file:///r/a%20b.yaml')
  t.same(JSON.parse(FORMATS.sarif([])).runs[0].results, [], 'a scan without faults has a log, too')
})

const TAG = /<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g

/** The elements of XML, each with those that it is in and its attributes; throws where a tag is not closed. */
function elementsIn(xml: string): readonly string[] {
  const open: string[] = []
  const elements: string[] = []
  for (const [, close, name = '', attributes = '', empty] of xml.matchAll(TAG)) {
    if (close) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`)
      continue
    }
    elements.push([...open, name].join('/') + attributes)
    if (!empty) open.push(name)
  }
  if (open.length > 0) throw new Error(`<${open.join('> <')}> is never closed`)
  return elements
}

/** What is left of XML beside its tags; in it and in attributes nothing stands for itself that XML has a use for. */
const textIn = (xml: string) => xml.replace(/^<\?xml[^>]*\?>\n/, '').replace(TAG, '')

t.test('junit: well-formed, a case for each object', async (t) => {
  const xml = FORMATS.junit(ALL)
  const elements = elementsIn(xml)
  t.notMatch(textIn(xml), /[<>]/)
  t.notMatch(xml, /&(?!(amp|lt|gt|quot);)/)
  const counts = 'tests="4" failures="2" errors="1"'
  t.same(elements.slice(0, 4), [
    `testsuites ${counts}`,
    `testsuites/testsuite name="virt-platform-autopilot check" ${counts}`,
    'testsuites/testsuite/testcase classname="a b/hco.yaml:7" name="MetalLB n/metallb"',
    'testsuites/testsuite/testcase classname="a b/hco.yaml:7" name="MetalLB n/metallb"',
  ])
  t.match(
    elements[4],
    /failure type="corrected\/Drift" message="kept at &lt;&quot;1&quot;&gt; &amp;/,
  )
  t.match(textIn(xml), 'refused\nTo own it: b?', 'what XML cannot hold is not in it')
  t.equal(elements.filter((element) => /\/error /.test(element)).length, 1)
  t.equal(elementsIn(FORMATS.junit([])).length, 2)
})
