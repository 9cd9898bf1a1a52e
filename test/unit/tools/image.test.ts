import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bundledPackages, npmPurl } from '../../../tools/image/bundled-packages.ts'
import { goModules } from '../../../tools/image/go-modules.ts'
import { sbomOf } from '../../../tools/image/sbom.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENTRY = join(ROOT, 'tools/image/main.ts')
const INTEGRITY = `sha512-${Buffer.alloc(64, 1).toString('base64')}`
const YAML = { version: '2.0.0', license: 'ISC', integrity: INTEGRITY }

t.test('the packages of a bundle', async (t) => {
  const bytes = (...files: readonly string[]) => ({
    inputs: Object.fromEntries(files.map((file) => [file, { bytesInOutput: 1 }])),
  })
  const packages = {
    'node_modules/yaml': YAML,
    'node_modules/@a/b': { ...YAML, version: '1.0.0' },
    'node_modules/@a/b/node_modules/yaml': { ...YAML, version: '1.0.0' },
    'node_modules/unused': YAML,
  }
  const outputs = {
    'dist/main.js': bytes('src/main.ts', 'node_modules/@a/b/index.js', 'node_modules/@a/b/x/y.js'),
    'dist/chunk.js': {
      inputs: {
        ...bytes('node_modules/@a/b/node_modules/yaml/dist/x.js').inputs,
        ...bytes('../clone/node_modules/yaml/index.js').inputs,
        'node_modules/unused/index.js': { bytesInOutput: 0 },
      },
    },
    'dist/main.js.map': { inputs: {} },
  }
  t.same(
    bundledPackages({ outputs }, { packages }).map(({ path, name, version }) => [
      path,
      name,
      version,
    ]),
    [
      ['node_modules/@a/b', '@a/b', '1.0.0'],
      ['node_modules/@a/b/node_modules/yaml', 'yaml', '1.0.0'],
      ['node_modules/yaml', 'yaml', '2.0.0'],
    ],
  )
  for (const missing of ['version', 'license', 'integrity']) {
    const less = { ...packages, 'node_modules/yaml': { ...YAML, [missing]: undefined } }
    t.throws(() => bundledPackages({ outputs }, { packages: less }), /^node_modules\/yaml /)
  }
})

t.test('the bill of materials', async (t) => {
  const one = (name: string, license: string, path = `node_modules/${name}`) => ({
    ...YAML,
    path,
    name,
    license,
    purl: npmPurl({ ...YAML, name }),
  })
  const product = { name: 'p', version: '0.1.0', license: 'Apache-2.0' }
  const packages = [
    one('@a/b', 'MIT'),
    one('c', '(BSD-3-Clause OR GPL-2.0)'),
    one('@a/b', 'MIT', 'node_modules/c/node_modules/@a/b'),
  ]
  const { serialNumber, ...bill } = sbomOf(product, packages)
  const hashes = [{ alg: 'SHA-512', content: '01'.repeat(64) }]
  const own = {
    type: 'application',
    'bom-ref': 'pkg:npm/p@0.1.0',
    name: 'p',
    version: '0.1.0',
    licenses: [{ license: { id: 'Apache-2.0' } }],
    purl: 'pkg:npm/p@0.1.0',
  }
  t.strictSame(bill, {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: own },
    components: [
      {
        type: 'library',
        'bom-ref': 'pkg:npm/%40a/b@2.0.0',
        name: '@a/b',
        version: '2.0.0',
        licenses: [{ license: { id: 'MIT' } }],
        purl: 'pkg:npm/%40a/b@2.0.0',
        hashes,
      },
      {
        type: 'library',
        'bom-ref': 'pkg:npm/c@2.0.0',
        name: 'c',
        version: '2.0.0',
        licenses: [{ expression: '(BSD-3-Clause OR GPL-2.0)' }],
        purl: 'pkg:npm/c@2.0.0',
        hashes,
      },
    ],
    dependencies: [
      { ref: 'pkg:npm/p@0.1.0', dependsOn: ['pkg:npm/%40a/b@2.0.0', 'pkg:npm/c@2.0.0'] },
    ],
  })
  const uuid = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/
  t.match(serialNumber, uuid)
  t.equal(sbomOf(product, packages).serialNumber, serialNumber)
  t.not(sbomOf(product, packages.slice(1)).serialNumber, serialNumber)
})

t.test('the Go modules of a program', async (t) => {
  const MIT = 'Permission is hereby granted, free of charge, to any person'
  const BSD = 'Redistribution and use in source and binary forms…\nNeither the name of'
  const said = [
    'out/program: go1.26.8',
    '\tpath\tprogram',
    '\tmod\tprogram\t(devel)\t',
    '\tdep\texample.com/a/v2\tv2.3.4\th1:AQEB',
    '\tdep\texample.com/b\tv0.1.0\th1:AgIC',
    '\tbuild\tCGO_ENABLED=0',
  ]
  const folder = t.testdir({
    'modules.txt': `${said.join('\n')}\n`,
    modules: {
      'example.com': {
        a: { v2: { LICENSE: 'Apache License\n   Version 2.0, January 2004', NOTICE: MIT } },
        b: { 'LICENSE.md': `MIT and Apache\n${MIT}\nApache License, Version 2.0` },
        unused: { LICENSE: 'Nobody may.' },
      },
      std: { LICENSE: BSD },
    },
  })
  t.strictSame(goModules(folder), [
    {
      path: join(folder, 'modules/example.com/a/v2'),
      name: 'example.com/a/v2',
      version: 'v2.3.4',
      license: 'Apache-2.0',
      purl: 'pkg:golang/example.com/a/v2@v2.3.4',
      integrity: 'sha256-AQEB',
    },
    {
      path: join(folder, 'modules/example.com/b'),
      name: 'example.com/b',
      version: 'v0.1.0',
      license: 'Apache-2.0 AND MIT',
      purl: 'pkg:golang/example.com/b@v0.1.0',
      integrity: 'sha256-AgIC',
    },
    {
      path: join(folder, 'modules/std'),
      name: 'std',
      version: '1.26.8',
      license: 'BSD-3-Clause',
      purl: 'pkg:golang/std@1.26.8',
    },
  ])
  writeFileSync(join(folder, 'modules/std/LICENSE'), 'Nobody may.')
  t.throws(() => goModules(folder), /modules\/std has no licence that is known: LICENSE$/)
})

/** Runs `npm run image` where these engines are, and gives what it says and what they are told. */
function image(t: Test, engines: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const folder = t.testdir()
  for (const [name, script] of Object.entries(engines)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [ENTRY, ...args], {
    env: { PATH: folder },
    encoding: 'utf8',
  })
  const built = [...stdout.matchAll(/^built (.*)$/gm)].map(([, args]) => args)
  return { status, stderr, built }
}

const WORKS = 'case "$*" in *--file*) echo "built $*";; esac'
const FILE = '--file tools/image/Containerfile'
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const BASELINE = `virt-platform-autopilot:${version}`
const GRAPH = `virt-platform-autopilot-graph:${version}`

t.test('the images are built with whatever engine answers', async (t) => {
  const both = ['--platform', 'linux/amd64,linux/arm64']

  await t.test('docker first', async (t) => {
    const { built } = image(t, { docker: WORKS, podman: WORKS })
    t.same(built, [
      `buildx build ${FILE} --tag ${BASELINE} --target baseline .`,
      `buildx build ${FILE} --tag ${GRAPH} --target graph .`,
    ])
    const list = image(t, { docker: WORKS }, [...both, '--target=baseline'])
    t.same(list.built, [
      `buildx build ${FILE} --tag ${BASELINE} ${both.join(' ')} --target=baseline .`,
    ])
  })
  await t.test('podman where docker cannot', async (t) => {
    const docker = 'echo "Cannot connect to the Docker daemon" >&2; exit 1'
    const { built } = image(t, { docker, podman: WORKS }, ['--target', 'graph'])
    t.same(built, [`build ${FILE} --tag ${GRAPH} --target graph .`])
  })
  await t.test('several platforms as a list', async (t) => {
    const { built } = image(t, { buildah: WORKS }, both)
    t.same(built, [
      `build ${FILE} --manifest ${BASELINE} --target baseline ${both.join(' ')} .`,
      `build ${FILE} --manifest ${GRAPH} --target graph ${both.join(' ')} .`,
    ])
  })
  await t.test('one of them under another name, and not both', async (t) => {
    const { built } = image(t, { docker: WORKS }, ['--target=graph', '--tag=elsewhere/x:1'])
    t.same(built, [`buildx build ${FILE} --target=graph --tag=elsewhere/x:1 .`])
    const { status, stderr, built: none } = image(t, { docker: WORKS }, ['--tag=elsewhere/x:1'])
    t.same([status, none], [2, []])
    t.match(stderr, 'say which image is to have that name: --target baseline or --target graph\n')
  })
  await t.test('not without one, which it says', async (t) => {
    const docker = 'test "$1" = info || { echo "unknown command: buildx" >&2; exit 1; }'
    const { status, stderr, built } = image(t, { docker })
    t.equal(status, 1)
    t.same(built, [])
    t.match(stderr, 'docker: `docker buildx version` fails: unknown command: buildx\n')
    t.match(stderr, 'podman: not installed\nbuildah: not installed\n')
  })
  await t.test('and fails where the engine does, at once', async (t) => {
    const docker = 'case "$*" in *--file*) echo "built $*"; exit 3;; esac'
    const { status, built } = image(t, { docker })
    t.equal(status, 3)
    t.equal(built.length, 1)
  })
})
