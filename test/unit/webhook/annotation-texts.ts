/** What is said of an annotation: on which asset's object, its key without our prefix, its value, and the texts in full. */
export type AnnotationText = readonly [
  asset: string,
  key: string,
  value: string,
  ...told: readonly string[],
]

const HCO = 'HyperConverged openshift-cnv/kubevirt-hyperconverged'
const CHECK = 'NodeHealthCheck virt-node-health-check'
const SWAP = 'MachineConfig 90-worker-swap-online'
const P = 'patch'
const I = 'ignore-fields'
const A = 'autopilot'
const D = 'disabled-resources'

const op = (...operations: readonly object[]) => JSON.stringify(operations)

/** Values that are refused. */
export const refused: readonly AnnotationText[] = [
  [
    'hco-golden-config',
    P,
    '[1',
    `${HCO}: platform.kubevirt.io/patch: the patch must be strict JSON: close bracket expected at offset 2 (line 1, column 3).`,
  ],
  [
    'hco-golden-config',
    P,
    '[{"op":"add","op":"add"}]',
    `${HCO}: platform.kubevirt.io/patch: the patch must be strict JSON: duplicate member "op" at offset 13 (line 1, column 14).`,
  ],
  [
    'hco-golden-config',
    P,
    '[9007199254740993]',
    `${HCO}: platform.kubevirt.io/patch: the patch must be strict JSON: number too large to be kept exactly at offset 1 (line 1, column 2).`,
  ],
  [
    'hco-golden-config',
    P,
    '['.repeat(65) + ']'.repeat(65),
    `${HCO}: platform.kubevirt.io/patch: the patch must be strict JSON: more than 64 levels of nesting at offset 64 (line 1, column 65).`,
  ],
  [
    'hco-golden-config',
    P,
    '{}',
    `${HCO}: platform.kubevirt.io/patch: the patch must be a list of operations: [{"op": …}, …].`,
  ],
  [
    'hco-golden-config',
    P,
    '[1]',
    `${HCO}: platform.kubevirt.io/patch: operation 0: an operation must be a map: {"op": …, "path": …}.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'set' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0: "op" must be add, copy, move, remove, replace or test.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'add', path: '/spec/x' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0: add must have "op", "path", "value" and nothing else.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: 1 }),
    `${HCO}: platform.kubevirt.io/patch: operation 0: "path" must be a JSON pointer.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: 'spec' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at spec: "path" must start with "/" or be empty.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: '/a~b' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /a~b: "path" must write "~" as ~0 and "/" in a name as ~1.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: '/a'.repeat(65) }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a…: "path" must not have more than 64 segments.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: '/spec/prototype' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/prototype: "path" must not have the segment "prototype".`,
  ],
  [
    'hco-golden-config',
    P,
    '[{"op":"add","path":"/spec/x","value":{"__proto__":1}}]',
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/x: rename the member called __proto__, constructor or prototype in the value.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'move', from: '/spec', path: '/spec/x' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/x: a value cannot move into itself: choose another path.`,
  ],
  [
    'hco-golden-config',
    P,
    op({
      op: 'add',
      path: '/spec/liveMigrationConfig/x',
      value: JSON.parse('['.repeat(62) + ']'.repeat(62)),
    }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/liveMigrationConfig/x: nothing may nest deeper than 64 levels: flatten it.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'test', path: '/spec/uninstallStrategy', value: 'x' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/uninstallStrategy: the test fails: correct its value, or leave the test out.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: '/spec/a/b' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/a/b: the baseline, which the patch works on, ends at /spec: correct the pointer, or add what is missing before.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'remove', path: '/more/b' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /more/b: the baseline, which the patch works on, ends at its root: correct the pointer, or add what is missing before.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'add', path: '/spec/uninstallStrategy/x', value: 1 }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/uninstallStrategy/x: in the baseline, which the patch works on, its parent is neither a map nor a list: add that before.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'add', path: '/spec/tuning/policy', value: 'highBurst' }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/tuning/policy: in the baseline, which the patch works on, there is no /spec/tuning: add that before.`,
  ],
  [
    'node-health-standard',
    P,
    op({ op: 'add', path: '/spec/unhealthyConditions/01', value: 1 }),
    `${CHECK}: platform.kubevirt.io/patch: operation 0 at /spec/unhealthyConditions/01: a list takes an index up to its length, without leading zeros, or "-" for its end.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'replace', path: '', value: [] }),
    `${HCO}: platform.kubevirt.io/patch: the patch must leave a Kubernetes object: change single fields, not the whole.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'replace', path: '/spec', value: [] }),
    `${HCO}: platform.kubevirt.io/patch: the patch must leave spec a map: change or remove single fields of it.`,
  ],
  [
    'hco-golden-config',
    P,
    op({ op: 'replace', path: '/kind', value: 'Pod' }),
    `${HCO}: platform.kubevirt.io/patch: the patch must not change /kind: in metadata it may set only labels and annotations outside platform.kubevirt.io/, and status, apiVersion and kind stay as they are.`,
  ],
  [
    'node-health-standard',
    P,
    op({ op: 'add', path: '/spec/minHelthy', value: '1' }),
    `${CHECK}: platform.kubevirt.io/patch: the patch sets /spec/minHelthy, which is unknown to the schema of this kind: correct it or remove it.`,
  ],
  [
    'node-health-standard',
    P,
    op({ op: 'replace', path: '/spec/minHealthy', value: null }),
    `${CHECK}: platform.kubevirt.io/patch: the patch sets /spec/minHealthy to null, which the API server does not keep: remove the field by "op": "remove", or leave it out of the value.`,
  ],
  [
    'hco-golden-config',
    P,
    ' '.repeat(65537),
    `${HCO}: platform.kubevirt.io/patch must not be longer than 65536 characters.`,
  ],
  [
    'hco-golden-config',
    P,
    JSON.stringify(Array.from({ length: 1001 }, () => ({ op: 'test', path: '', value: 1 }))),
    `${HCO}: platform.kubevirt.io/patch: the patch must not have more than 1,000 operations.`,
  ],
  [
    'hco-golden-config',
    P,
    op(
      { op: 'add', path: '/spec/x', value: 'x'.repeat(30000) },
      ...Array.from({ length: 60 }, (_, i) => ({
        op: 'copy',
        from: '/spec/x',
        path: `/spec/x${i}`,
      })),
    ),
    `${HCO}: platform.kubevirt.io/patch: operation 34 at /spec/x33: the object and all that the patch puts into it must fit in 1 MiB: put less.`,
  ],
  [
    'hco-golden-config',
    I,
    '/spec/x,,',
    `${HCO}: platform.kubevirt.io/ignore-fields: an empty pointer is the whole object: to own that, set platform.kubevirt.io/mode=unmanaged.`,
  ],
  [
    'hco-golden-config',
    I,
    '["/a"',
    `${HCO}: platform.kubevirt.io/ignore-fields starts with "[" and is not the JSON array it must then be: close bracket expected at offset 5 (line 1, column 6).`,
  ],
  [
    'hco-golden-config',
    I,
    '[1]',
    `${HCO}: platform.kubevirt.io/ignore-fields starts with "[" and must then be a JSON array of nothing but strings.`,
  ],
  [
    'hco-golden-config',
    I,
    Array.from({ length: 257 }, (_, i) => `/spec/x${i}`).join(),
    `${HCO}: platform.kubevirt.io/ignore-fields must not hold more than 256 pointers: release a parent of theirs, or set platform.kubevirt.io/mode=unmanaged.`,
  ],
  [
    'hco-golden-config',
    I,
    '[""]',
    `${HCO}: platform.kubevirt.io/ignore-fields: an empty pointer is the whole object: to own that, set platform.kubevirt.io/mode=unmanaged.`,
  ],
  [
    'hco-golden-config',
    I,
    '/kind',
    `${HCO}: platform.kubevirt.io/ignore-fields: /kind says what the object is: remove the pointer.`,
  ],
  [
    'hco-golden-config',
    I,
    '/status/phase',
    `${HCO}: platform.kubevirt.io/ignore-fields: /status/phase is never managed: remove the pointer.`,
  ],
  [
    'hco-golden-config',
    I,
    '/metadata/name',
    `${HCO}: platform.kubevirt.io/ignore-fields: /metadata/name cannot be released: in metadata only single labels and annotations outside platform.kubevirt.io/ can, as in /metadata/labels/team.`,
  ],
  [
    'swap-enable',
    I,
    '/spec',
    `${SWAP}: platform.kubevirt.io/ignore-fields: /spec is too much of a kind that grants power over nodes or access: name a field inside it, or to own the object set platform.kubevirt.io/mode=unmanaged.`,
  ],
  [
    'swap-enable',
    I,
    '/spec/kernelArguments/0',
    `${SWAP}: platform.kubevirt.io/ignore-fields: /spec/kernelArguments/0 lies inside a value that the API server replaces whole: release /spec/kernelArguments instead.`,
  ],
  [
    'swap-enable',
    I,
    '/spec/config/systemd/units/0',
    `${SWAP}: platform.kubevirt.io/ignore-fields: /spec/config/systemd/units/0 lies inside a value that the API server replaces whole: release /spec/config/systemd/units instead.`,
  ],
  [
    'node-health-standard',
    I,
    '/spec/minHelthy',
    `${CHECK}: platform.kubevirt.io/ignore-fields: /spec/minHelthy is unknown to the schema of this kind: correct or remove it.`,
  ],
  [
    'node-health-standard',
    I,
    '/spec/unhealthyConditions/x',
    `${CHECK}: platform.kubevirt.io/ignore-fields: /spec/unhealthyConditions/x must name an item of /spec/unhealthyConditions by its index in the baseline, a number from 0.`,
  ],
  [
    'node-health-standard',
    I,
    '/spec/unhealthyConditions/0/type',
    `${CHECK}: platform.kubevirt.io/ignore-fields: /spec/unhealthyConditions/0/type is a key by which the API server knows a list item: release /spec/unhealthyConditions/0 instead.`,
  ],
  [
    'node-health-standard',
    I,
    '/spec/minHealthy/x',
    `${CHECK}: platform.kubevirt.io/ignore-fields: /spec/minHealthy/x lies inside a value that the API server replaces whole: release /spec/minHealthy instead.`,
  ],
  [
    'hco-golden-config',
    'mode',
    'off',
    `${HCO}: platform.kubevirt.io/mode must be "unmanaged" or "managed", or absent, not "off".`,
  ],
  [
    'hco-golden-config',
    'reconcile-paused',
    'yes',
    `${HCO}: platform.kubevirt.io/reconcile-paused must be "true", or absent, not "yes".`,
  ],
  [
    'hco-golden-config',
    A,
    'True',
    `${HCO}: platform.kubevirt.io/autopilot must be "true", "false", "observe" or a comma separated list of asset and group names, not "True".`,
  ],
  [
    'hco-golden-config',
    A,
    'x'.repeat(16385),
    `${HCO}: platform.kubevirt.io/autopilot must not be longer than 16384 characters.`,
  ],
  [
    'hco-golden-config',
    D,
    'swap-enable',
    `${HCO}: platform.kubevirt.io/disabled-resources must be a YAML list of names, or of {kind, name, namespace}.`,
  ],
  [
    'hco-golden-config',
    D,
    '[',
    `${HCO}: platform.kubevirt.io/disabled-resources must be a YAML list: Flow sequence must end with a ] at line 1, column 2.`,
  ],
  [
    'hco-golden-config',
    D,
    '[[[[[[[[[x]]]]]]]]]',
    `${HCO}: platform.kubevirt.io/disabled-resources must not nest deeper than 8 levels.`,
  ],
  [
    'hco-golden-config',
    D,
    '- - - - - - - - - x',
    `${HCO}: platform.kubevirt.io/disabled-resources must not nest deeper than 8 levels.`,
  ],
  [
    'hco-golden-config',
    D,
    `${']'.repeat(9)}${'['.repeat(9)}`,
    `${HCO}: platform.kubevirt.io/disabled-resources must not nest deeper than 8 levels.`,
  ],
  [
    'hco-golden-config',
    D,
    '- "\\q"',
    `${HCO}: platform.kubevirt.io/disabled-resources must hold no escapes: no name needs one.`,
  ],
  [
    'hco-golden-config',
    D,
    `- ${'x'.repeat(1025)}`,
    `${HCO}: platform.kubevirt.io/disabled-resources must not hold a name of more than 1024 characters.`,
  ],
  [
    'hco-golden-config',
    D,
    '- a\n'.repeat(500),
    `${HCO}: platform.kubevirt.io/disabled-resources must not list so much: a glob can stand for many names.`,
  ],
  [
    'hco-golden-config',
    'mode',
    'x'.repeat(1025),
    `${HCO}: platform.kubevirt.io/mode must not be longer than 1024 characters.`,
  ],
  [
    'hco-golden-config',
    P,
    op({
      op: 'add',
      path: '/spec/x',
      value: Array.from({ length: 20_000 }, () => 0),
    }),
    `${HCO}: platform.kubevirt.io/patch: operation 0 at /spec/x: the object and all that the patch puts into it must not have more than 20000 values: put less.`,
  ],
  [
    'hco-golden-config',
    D,
    '[[]]',
    `${HCO}: platform.kubevirt.io/disabled-resources: item 0 must be a name or {kind, name, namespace}.`,
  ],
  [
    'hco-golden-config',
    D,
    '[{kind: K, name: n, names: x}]',
    `${HCO}: platform.kubevirt.io/disabled-resources: item 0 has the unknown field "names".`,
  ],
  [
    'hco-golden-config',
    D,
    '[{kind: K, name: n, name: x}]',
    `${HCO}: platform.kubevirt.io/disabled-resources: item 0 has a field twice.`,
  ],
  [
    'hco-golden-config',
    D,
    '[{kind: K}]',
    `${HCO}: platform.kubevirt.io/disabled-resources: item 0 must have a kind and a name, both strings.`,
  ],
  [
    'hco-golden-config',
    D,
    '[{kind: K, name: n, namespace: 1}]',
    `${HCO}: platform.kubevirt.io/disabled-resources: item 0 has a namespace that is no string.`,
  ],
  [
    'hco-golden-config',
    'enforcement',
    'Deny',
    `${HCO}: platform.kubevirt.io/enforcement must be "correct" or "deny", not "Deny".`,
  ],
  [
    'hco-golden-config',
    'disruptive-changes',
    'no',
    `${HCO}: platform.kubevirt.io/disruptive-changes must be "apply" or "hold", not "no".`,
  ],
  [
    'hco-golden-config',
    'vfio-device-ids',
    'x',
    `${HCO}: platform.kubevirt.io/vfio-device-ids must be a comma separated list of vendor:product ids, four lower-case hexadecimal digits each, as in 10de:1eb8: "x" is none.`,
  ],
  [
    'hco-golden-config',
    'vfio-device-ids',
    '10de:1eb8,10de:1eb8',
    `${HCO}: platform.kubevirt.io/vfio-device-ids must not name 10de:1eb8 twice.`,
  ],
  [
    'hco-golden-config',
    'vfio-device-ids',
    Array.from({ length: 65 }, (_, i) => `10de:${(4096 + i).toString(16)}`).join(),
    `${HCO}: platform.kubevirt.io/vfio-device-ids must not name more than 64 devices.`,
  ],
  [
    'hco-golden-config',
    'enable-fence-agents',
    'true',
    `${HCO}: platform.kubevirt.io/enable-fence-agents must be the name of a Secret (lower case letters, digits, - and .), not "true".`,
  ],
]

/** Values that are taken, and warned of. */
export const doubted: readonly AnnotationText[] = [
  [
    'hco-golden-config',
    'enable-aaq',
    'yes',
    `${HCO}: platform.kubevirt.io/enable-aaq means something only as "true": as "yes" it asks for nothing`,
  ],
  [
    'hco-golden-config',
    'foo',
    'yes',
    `${HCO}: annotation platform.kubevirt.io/foo means nothing here: remove it`,
  ],
  [
    'hco-golden-config',
    'ignore-field',
    'yes',
    `${HCO}: annotation platform.kubevirt.io/ignore-field means nothing here: did you mean platform.kubevirt.io/ignore-fields?`,
  ],
  [
    'hco-golden-config',
    A,
    'hco,xyz',
    `${HCO}: no asset or group is named "xyz": \`virt-platform-autopilot render -o status\` lists all that there are`,
    `${HCO}: swap-enable, kubelet-perf-settings, node-health-standard, metallb, mtv and 5 more are not kept any more from now on`,
  ],
  [
    'hco-golden-config',
    A,
    'hco,swap-enabel',
    `${HCO}: no asset or group is named "swap-enabel": did you mean "swap-enable"?`,
    `${HCO}: swap-enable, kubelet-perf-settings, node-health-standard, metallb, mtv and 5 more are not kept any more from now on`,
  ],
  ...['yes', '0123456789AB', '0123456789abc'].map(
    (digest): AnnotationText => [
      'hco-golden-config',
      'approve',
      digest,
      `${HCO}: platform.kubevirt.io/approve "${digest}" approves nothing: it takes the digest that the event DisruptionPending names, 12 of 0-9 and a-f`,
    ],
  ),
  ['hco-golden-config', D, '[metallb]', `${HCO}: metallb is not kept any more from now on`],
  [
    'hco-golden-config',
    D,
    '[metalb, {kind: Pod, name: x}, {kind: MetalLB, name: nothing}]',
    `${HCO}: no asset to disable is named "metalb": did you mean "metallb"?`,
    `${HCO}: no object to disable is of kind "Pod": \`virt-platform-autopilot render -o status\` lists all that there are`,
    `${HCO}: no object of kind "MetalLB" to disable is named "nothing": \`virt-platform-autopilot render -o status\` lists all that there are`,
  ],
  [
    'node-health-standard',
    I,
    '/spec/healthyDelay',
    `${CHECK}: platform.kubevirt.io/ignore-fields: /spec/healthyDelay is not managed: ignoring it only leaves there what was managed before`,
  ],
]
