export const EMBEDDED = { type: 'embedded', ref: 'webservice' }

/** What is not as the definition of Transform has it, and what is said of it. The API server refuses each, too. */
export const INVALID_SPECS: readonly (readonly [
  what: string,
  spec: unknown,
  causes: readonly string[],
])[] = [
  ['nothing', undefined, ['spec: is required']],
  [
    'half of it',
    { cueRef: { type: 'inline' } },
    ['spec.input: is required', 'spec.cueRef.ref: is required'],
  ],
  [
    'a field that there is not',
    { cueRef: EMBEDDED, input: {}, suspended: true },
    ['spec.suspended: is no field of this: did you mean suspend?'],
  ],
  [
    'another one',
    { cueRef: { ...EMBEDDED, pullSecretRef: {} }, input: {} },
    ['spec.cueRef.pullSecretRef: is no field of this: known are type, ref, path'],
  ],
  [
    'a word that there is not',
    { cueRef: { type: 'embeded', ref: 'x' }, input: {} },
    ['spec.cueRef.type: must not be "embeded": did you mean embedded?'],
  ],
  [
    'another one',
    { cueRef: { type: 'oci', ref: 'x' }, input: {} },
    ['spec.cueRef.type: must not be "oci": it is one of embedded, inline, configmap'],
  ],
  [
    'another type',
    { cueRef: EMBEDDED, input: {}, suspend: 'yes' },
    ['spec.suspend: must be of type boolean, not "yes"'],
  ],
  [
    'another form',
    { cueRef: EMBEDDED, input: {}, interval: '5 min' },
    ['spec.interval: must match ^([0-9]+(ms|s|m|h))+$, not "5 min"'],
  ],
  [
    'too little',
    { cueRef: { type: 'inline', ref: '' }, input: {} },
    ['spec.cueRef.ref: must not have fewer than 1 characters'],
  ],
  [
    'no name of a module',
    { cueRef: { type: 'embedded', ref: 'Web Service' }, input: {} },
    ['spec.cueRef.ref: must be a name: lowercase letters, digits, - and .'],
  ],
  [
    'a folder in one text',
    { cueRef: { type: 'inline', ref: 'package m', path: 'a' }, input: {} },
    ['spec.cueRef.path: an inline module is one file and has no folders'],
  ],
  [
    'a policy twice',
    {
      cueRef: EMBEDDED,
      input: {},
      policies: ['Info', 'Error'].map((severity) => ({ name: 'a', severity })),
    },
    ['spec.policies[1].name: a is there already'],
  ],
  [
    'a policy of no severity',
    { cueRef: EMBEDDED, input: {}, policies: [{ name: 'a' }] },
    ['spec.policies[0].severity: is required'],
  ],
]
