import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { findBinaries } from '../../../tools/go-programs/binaries.ts'
import { environment } from '../harness/fixture.ts'

const COMPONENTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
]
const SERVER = '#!/bin/sh\necho Kubernetes v1.36.3\n'
const OLD_SERVER = '#!/bin/sh\necho Kubernetes v1.29.14\n'

function program(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
  chmodSync(join(folder, name), 0o755)
}

function assets(folder: string, server = SERVER, names = COMPONENTS): string {
  for (const name of names) program(folder, name, name === 'kube-apiserver' ? server : SERVER)
  return folder
}

/** An environment in which `go` is this script, and all caches are in the folder. */
function withGo(folder: string, goBuild: string, version = 'go1.26.8') {
  const modules = join(folder, 'modules')
  mkdirSync(join(modules, 'k8s.io/kubernetes@v1.36.3'), { recursive: true }) // not a cold build
  const caches = [join(folder, 'objects'), modules]
  mkdirSync(join(folder, 'objects'))
  const answer = [version, 'linux', 'amd64', ...caches].map((word) => `echo ${word}`).join('\n')
  const script = `#!/bin/sh\nif [ "$1" = env ]; then\n${answer}\nexit\nfi\n${goBuild}\n`
  program(join(folder, 'bin'), 'go', script)
  return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: join(folder, 'cache') }
}

/** Writes what `go build -o FILE` is asked for, and counts how often. */
const BUILDS = (folder: string) => `echo built >>${folder}/count
sleep 0.2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho Kubernetes v1.36.3\\n' >"$2"
chmod +x "$2"`

const silent = () => undefined

t.test('KUBEBUILDER_ASSETS wins, and then nothing else is needed', async (t) => {
  const KUBEBUILDER_ASSETS = assets(t.testdir())
  const env = { KUBEBUILDER_ASSETS, PATH: t.testdirName }
  const binaries = await findBinaries({ env, print: silent })
  t.same(binaries, {
    etcd: join(KUBEBUILDER_ASSETS, 'etcd'),
    apiserver: join(KUBEBUILDER_ASSETS, 'kube-apiserver'),
    controllerManager: join(KUBEBUILDER_ASSETS, 'kube-controller-manager'),
    scheduler: join(KUBEBUILDER_ASSETS, 'kube-scheduler'),
    kubectl: join(KUBEBUILDER_ASSETS, 'kubectl'),
    version: '1.36.3',
  })
})

t.test("envtest's folder is enough where no controller manager is needed", async (t) => {
  const KUBEBUILDER_ASSETS = assets(t.testdir(), SERVER, ['etcd', 'kube-apiserver', 'kubectl'])
  const env = { KUBEBUILDER_ASSETS, PATH: KUBEBUILDER_ASSETS }
  const { controllerManager } = await findBinaries({ env, print: silent, controllers: false })
  t.equal(controllerManager, undefined)
})

t.test('what KUBEBUILDER_ASSETS lacks is built', async (t) => {
  const folder = t.testdir()
  const names = ['etcd', 'kube-apiserver']
  const KUBEBUILDER_ASSETS = assets(join(folder, 'assets'), SERVER, names)
  const lines: string[] = []
  const env = { ...withGo(folder, BUILDS(folder)), KUBEBUILDER_ASSETS }
  const binaries = await findBinaries({ env, print: (line) => lines.push(line) })
  t.equal(binaries.etcd, join(KUBEBUILDER_ASSETS, 'etcd'))
  t.ok(binaries.kubectl.startsWith(join(folder, 'cache/virt-platform-autopilot/control-plane/')))
  t.ok(existsSync(binaries.kubectl))
  t.match(lines[0], /KUBEBUILDER_ASSETS has no kube-controller-manager, kube-scheduler, kubectl: /)
})

t.test('a mistake in KUBEBUILDER_ASSETS is told in one line', async (t) => {
  const folder = t.testdir()
  const old = assets(join(folder, 'old'), OLD_SERVER)
  const find = (KUBEBUILDER_ASSETS: string) =>
    findBinaries({ env: { KUBEBUILDER_ASSETS, PATH: folder }, print: silent })
  await t.rejects(find(old), {
    message: `KUBEBUILDER_ASSETS: ${old}/kube-apiserver is Kubernetes 1.29.14, and 1.30 or newer is needed`,
  })
  const unknown = assets(join(folder, 'unknown'), '#!/bin/sh\necho hello\n')
  await t.rejects(find(unknown), { message: /Kubernetes of no known version, and 1\.30/ })
  await t.rejects(find(join(folder, 'none')), {
    message: `KUBEBUILDER_ASSETS: ${folder}/none is not a folder`,
  })
})

t.test('a Go that is missing, old or broken is told in one line', async (t) => {
  const folder = t.testdir()
  const find = (env: Record<string, string>) => findBinaries({ env, print: silent })
  const way =
    'install it from go.dev, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl'
  const needs = 'building the control plane needs Go 1.26 or newer, and'
  await t.rejects(find({ PATH: folder, HOME: folder }), {
    message: `${needs} no \`go\` is on the PATH: ${way}`,
  })
  await t.rejects(find(withGo(join(folder, 'old'), '', 'go1.22.1')), {
    message: `${needs} this one is "go1.22.1": ${way}`,
  })
  const broken = '#!/bin/sh\necho go: download go1.26.0: toolchain not available >&2\nexit 1\n'
  program(folder, 'go', broken)
  await t.rejects(find({ PATH: folder }), {
    message: `${needs} this one says "go: download go1.26.0: toolchain not available": ${way}`,
  })
})

t.test('a build that fails shows its last lines and where the others are', async (t) => {
  const folder = t.testdir()
  const env = withGo(folder, 'echo main.go:7: undefined: nothing\nexit 1')
  const message = await findBinaries({ env, print: silent }).catch(({ message }) => String(message))
  t.match(message, /^building the control plane failed \(exit code 1\); all of it is in /)
  t.match(message, /main\.go:7: undefined: nothing$/)
  const [, log = ''] = /is in (\S+):/.exec(String(message)) ?? []
  t.equal(readFileSync(log, 'utf8'), 'main.go:7: undefined: nothing\n')
  t.same(readdirSync(dirname(log)), [basename(log)], 'nothing half built is left')
})

t.test('a full disk is told as such', async (t) => {
  const folder = t.testdir()
  const env = withGo(folder, 'echo write x: no space left on device\nexit 1')
  await t.rejects(findBinaries({ env, print: silent }), { message: /the disk is full: make 5 GB/ })
})

t.test('the same content is built once, by one of those who need it', async (t) => {
  const folder = t.testdir()
  const env = withGo(folder, BUILDS(folder))
  const cache = join(folder, 'cache/virt-platform-autopilot/control-plane')
  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000)
  for (const name of ['unused', 'in-use']) program(join(cache, name), 'kubectl', SERVER)
  utimesSync(join(cache, 'unused'), yesterday, yesterday)
  const [one, two] = await Promise.all([1, 2].map(() => findBinaries({ env, print: silent })))
  t.same(one, two)
  await findBinaries({ env, print: silent })
  t.equal(readFileSync(join(folder, 'count'), 'utf8'), 'built\n')
  t.same(readdirSync(cache).sort(), [basename(dirname(one?.etcd ?? '')), 'in-use'].sort())
})

t.test('the lock of a builder that died holds nobody up', async (t) => {
  const folder = t.testdir()
  const env = withGo(folder, BUILDS(folder))
  const { etcd } = await findBinaries({ env, print: silent })
  const key = dirname(etcd)
  const other = { ...env, XDG_CACHE_HOME: join(folder, 'other') }
  const cache = join(folder, 'other/virt-platform-autopilot/control-plane')
  mkdirSync(cache, { recursive: true })
  symlinkSync('99999999', join(cache, `${basename(key)}.lock`))
  t.ok(existsSync((await findBinaries({ env: other, print: silent })).etcd))
})

t.test('the real ones are built or found', async (t) => {
  const { version } = await findBinaries({ env: environment(), print: (line) => t.comment(line) })
  t.match(version, /^1\.\d+\.\d+/)
})
