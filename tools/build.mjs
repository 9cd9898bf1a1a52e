// Bundles the program: a start that loads one file instead of hundreds takes a third of the time and half of the memory.
// `node tools/build.mjs ENTRY FOLDER` bundles another one in the same way.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'

const [entry = 'src/cli/main.ts', outdir = 'dist'] = process.argv.slice(2)

const { metafile } = await build({
  entryPoints: [entry],
  outdir,
  bundle: true,
  // One chunk for each command: no process carries another's code, which would take 20 MB of each at rest.
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Names stay, and a stack trace can be read where there are no maps.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  // The same sources give the same chunks, wherever their packages are.
  preserveSymlinks: true,
  // The UMD entry of jsonc-parser requires its parts by names that no bundler can follow.
  mainFields: ['module', 'main'],
  // A dependency colours its output where this is installed, and for us only a tool for development brings it.
  external: ['supports-color'],
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  // Of the Kubernetes client only the kubeconfig is used; it does not say that its other parts do nothing by themselves.
  plugins: [
    {
      name: 'client-node-has-no-side-effects',
      setup({ onResolve, resolve }) {
        onResolve({ filter: /./ }, async ({ path, kind, ...from }) => {
          const isOfClient = `${from.importer} ${path}`.includes('@kubernetes/client-node')
          if (from.pluginData || !isOfClient) return undefined
          // To ask esbuild where each of its 868 modules is takes ten seconds.
          if (/^\..*\.js$/.test(path))
            return { path: join(from.resolveDir, path), sideEffects: false }
          const found = await resolve(path, { ...from, kind, pluginData: true })
          return { ...found, sideEffects: false }
        })
      },
    },
    // Who imports these modules of Node's gets all that they export, also what they only make when it is asked for: Node's own HTTP
    // client (for WebSocket), and the text of every root certificate. Who requires them does not.
    {
      name: 'require-what-is-lazy',
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /^(node:)?(http|tls)$/ }, ({ path, kind, namespace }) =>
          namespace === 'lazy' || kind !== 'import-statement'
            ? { path, external: true }
            : { path, namespace: 'lazy' },
        )
        onLoad({ filter: /./, namespace: 'lazy' }, ({ path }) => ({
          contents: `module.exports = require('${path}')`,
        }))
      },
    },
  ],
  logLevel: 'warning',
  metafile: true,
})
// Whoever runs the bundle of an earlier build meanwhile never finds it missing.
for (const name of readdirSync(outdir)) {
  const path = join(outdir, name)
  if (!(relative('', path) in metafile.outputs)) rmSync(path)
}
// Of which files each chunk is: what lists the packages that ship reads it.
writeFileSync(join(outdir, 'metafile.json'), JSON.stringify(metafile))
