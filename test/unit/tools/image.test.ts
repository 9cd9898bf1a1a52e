import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bundledPackages } from '../../../tools/image/bundled-packages.ts'
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
  return { status, stderr, build: /^built (.*)$/m.exec(stdout)?.[1] }
}

const WORKS = 'case "$*" in *--file*) echo "built $*";; esac'
const FILE = '--file tools/image/Containerfile'

t.test('the image is built with whatever engine answers', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = `virt-platform-autopilot:${version}`
  const both = ['--platform', 'linux/amd64,linux/arm64']

  await t.test('docker first', async (t) => {
    const { build } = image(t, { docker: WORKS, podman: WORKS })
    t.equal(build, `buildx build ${FILE} --tag ${named} .`)
    const list = image(t, { docker: WORKS }, both)
    t.equal(list.build, `buildx build ${FILE} --tag ${named} ${both.join(' ')} .`)
  })
  await t.test('podman where docker cannot', async (t) => {
    const docker = 'echo "Cannot connect to the Docker daemon" >&2; exit 1'
    const { build } = image(t, { docker, podman: WORKS })
    t.equal(build, `build ${FILE} --tag ${named} .`)
  })
  await t.test('several platforms as a list', async (t) => {
    const { build } = image(t, { buildah: WORKS }, both)
    t.equal(build, `build ${FILE} --manifest ${named} ${both.join(' ')} .`)
  })
  await t.test('under another name', async (t) => {
    const { build } = image(t, { docker: WORKS }, ['--tag=elsewhere/x:1', '--push'])
    t.equal(build, `buildx build ${FILE} --tag=elsewhere/x:1 --push .`)
  })
  await t.test('not without one, which it says', async (t) => {
    const docker = 'test "$1" = info || { echo "unknown command: buildx" >&2; exit 1; }'
    const { status, stderr, build } = image(t, { docker })
    t.equal(status, 1)
    t.equal(build, undefined)
    t.match(stderr, 'docker: `docker buildx version` fails: unknown command: buildx\n')
    t.match(stderr, 'podman: not installed\nbuildah: not installed\n')
  })
  await t.test('and fails where the engine does', async (t) => {
    const docker = 'case "$*" in *--file*) exit 3;; esac'
    t.equal(image(t, { docker }).status, 3)
  })
})
