// A registry mirror that lacks a platform's optional package makes npm leave it out of the lock file, and `npm ci` then refuses the lock.
// Adds each optional dependency that no entry answers, as npm writes it, less the integrity that only the registry knows.
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const PLATFORM =
  /-(android|darwin|freebsd|linux|openharmony|win32)-(arm-eabi|arm-gnueabihf|arm-musleabihf|[a-z0-9]+)/
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`
    if (lock.packages[path]) continue
    const [, os, cpu] = PLATFORM.exec(name) ?? []
    if (!os) continue
    lock.packages[path] = {
      version,
      cpu: [cpu.replace(/^arm-.*/, 'arm')],
      dev: true,
      license: 'MIT',
      optional: true,
      os: [os],
    }
    console.log('added', name, version)
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
