/** Plain scalars of YAML, and what kubectl takes each for; test/cluster/cli/kubectl-yaml.test.ts asks it. */
export const SCALARS: readonly (readonly [text: string, value: unknown])[] = [
  ['0644', 420],
  ['0o644', 420],
  ['0O644', 420],
  ['-0644', -420],
  ['0648', 648],
  ['08', 8],
  ['00', 0],
  ['1_000', 1000],
  ['1__0', 10],
  ['_1', '_1'],
  ['+1', 1],
  ['0x_1F', 31],
  ['-0X1f', -31],
  ['0x', '0x'],
  ['0b11', 3],
  ['0B11', 3],
  ['0b12', '0b12'],
  ['1.', 1],
  ['.5', 0.5],
  ['+.5_0', 0.5],
  ['.5_0', 0.5],
  ['._5', '._5'],
  ['.5_', '.5_'],
  ['1_2.5', 12.5],
  ['1e3', 1000],
  ['1E+3', 1000],
  ['1e400', '1e400'],
  ['.', '.'],
  ['1.2.3', '1.2.3'],
  ['10%', '10%'],
  ['1:30', '1:30'],
  ['1:30:00.5', '1:30:00.5'],
  ['2001-01-01', '2001-01-01'],
  ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
  ['on', true],
  ['On', true],
  ['oN', 'oN'],
  ['yes', true],
  ['y', true],
  ['Y', true],
  ['off', false],
  ['NO', false],
  ['n', false],
  ['true', true],
  ['False', false],
  ['tRue', 'tRue'],
  ['~', null],
  ['Null', null],
  ['"on"', 'on'],
  ["'0644'", '0644'],
  ['!!str 0644', '0644'],
  ['!!int "0644"', 420],
  ['!!float 1', 1],
  ['=', '='],
]

/** The same for maps: the keys of one, and what is merged into it. */
export const MAPS: readonly (readonly [text: string, value: object])[] = [
  ['{on: 1, 0644: 2, 1.0: 3, "y": 4}', { true: 1, 420: 2, 1: 3, y: 4 }],
  ['{<<: {a: 2, b: 3}, a: 1}', { a: 1, b: 3 }],
  ['{a: 1, <<: {a: 2, b: 3}}', { a: 2, b: 3 }],
  ['{<<: [{a: 1}, {a: 2, b: 3}]}', { a: 1, b: 3 }],
  ['{<<: {a: 1}, <<: {a: 2}}', { a: 2 }],
  ['{<<: &m {a: {b: 1}}, c: {<<: [{d: 0}, *m]}}', { a: { b: 1 }, c: { a: { b: 1 }, d: 0 } }],
  ['{"<<": {a: 1}}', { '<<': { a: 1 } }],
]

/** What an object states that was made so. */
export const statedIn = (object: unknown) =>
  (object as { readonly stated: readonly unknown[] }).stated

/** An object of some kind that states these texts, one a line. */
export const stating = (texts: readonly string[]) =>
  `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nstated:\n${texts.map((text) => `- ${text}\n`).join('')}`
