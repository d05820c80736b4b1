/**
 * Builds the published packages: JavaScript with shared chunks, declarations, assets, and a manifest that points at
 * them. Source manifests stay private, because their exports are TypeScript; each `dist` folder is what gets published.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type InlineConfig } from 'tsdown'
import { publishedManifest, type SourceManifest } from './manifest.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface Package {
  folder: string
  /** Entries without an export, such as those of threads and processes. */
  alone?: Record<string, string>
  /** Packages that become part of ours, so that an import loads fewer files. */
  bundled?: string[]
  /** Files and folders to copy, from the root of the repository. */
  assets?: Record<string, string>
}

export const PACKAGES: readonly Package[] = [
  {
    folder: 'packages/loadout',
    // Guests run alone in a thread or process and share no chunk with the library.
    alone: {
      'worker-guest': 'src/code-mode/worker-guest.ts',
      'thread-entry': 'src/code-mode/guest/thread-entry.ts',
      'process-entry': 'src/code-mode/guest/process-entry.ts',
    },
    // Small packages, and one vocabulary of a 30 MB package. The OpenTelemetry API finds its SDK by a global symbol.
    bundled: [
      '@marcbachmann/cel-js',
      '@opentelemetry/api',
      'gpt-tokenizer',
      'idb',
      'jsonc-parser',
      'lru-cache',
      'stemmer',
    ],
    assets: { 'packages/loadout/src/search/vectors/tool-vectors-48.bin': 'tool-vectors-48.bin' },
  },
  { folder: 'apps/server', assets: { 'apps/web/dist': 'web' } },
  { folder: 'apps/cli' },
]

/** Threads and processes start at a file beside the chunk that names it. */
const entryUrls = {
  name: 'entry-urls',
  transform(code: string) {
    const renamed = code.replaceAll(
      /new URL\('\.\.?\/(?:[\w-]+\/)*([\w-]+)\.ts', import\.meta\.url\)/g,
      "new URL('./$1.js', import.meta.url)",
    )
    return renamed === code ? undefined : { code: renamed, map: null }
  },
}

const COMMON =
  /\/packages\/loadout\/src\/(?:schema\/(?!read\/read-config-text)|util\/|errors|events|context)[^?]*(?<!\.d)\.ts$/

export async function buildPackages(): Promise<void> {
  if (!existsSync(join(ROOT, 'apps/web/dist/index.html')))
    execFileSync('npm', ['run', 'build', '--workspace', '@loadout/web'], { cwd: ROOT, stdio: 'inherit' })
  for (const item of PACKAGES) await buildPackage(item)
}

async function buildPackage({ folder, alone = {}, bundled = [], assets = {} }: Package): Promise<void> {
  const cwd = join(ROOT, folder)
  const dist = join(cwd, 'dist')
  const source = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8')) as SourceManifest
  const { manifest, entries } = publishedManifest(source, folder)
  rmSync(dist, { recursive: true, force: true })
  const options: InlineConfig = {
    cwd,
    config: false,
    outDir: 'dist',
    clean: false,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    fixedExtension: false,
    logLevel: 'warn',
    tsconfig: 'tsconfig.build.json',
    deps: { neverBundle: [/^#/], alwaysBundle: bundled.map((name) => new RegExp(`^${name}(/|$)`)), onlyBundle: false },
    plugins: [entryUrls],
    // Its default file is UMD, which cannot be bundled.
    alias: { 'jsonc-parser': join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js') },
    inputOptions: { checks: { pluginTimings: false } },
    outputOptions: {
      chunkFileNames: 'chunk-[name]-[hash].js',
      comments: { jsdoc: false },
      // Most entries need most of these small modules, and each file costs a lookup and a read.
      codeSplitting: { groups: [{ name: 'schema', test: COMMON }] },
    },
  }
  const shared = Object.fromEntries(Object.entries(entries).filter(([name]) => !(name in alone)))
  await build({ ...options, entry: shared, dts: source.exports ? { generator: 'tsgo' } : false })
  for (const [name, path] of Object.entries(alone)) {
    await build({ ...options, entry: { [name]: path }, dts: false })
    if (name in entries) writeFileSync(join(dist, `${name}.d.ts`), 'export {}\n')
  }
  for (const [from, to] of Object.entries(assets)) cpSync(join(ROOT, from), join(dist, to), { recursive: true })
  for (const path of Object.values(manifest.bin ?? {})) chmodSync(join(dist, path), 0o755)
  dropUnusedImports(dist)
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  if (bundled.length > 0) writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), bundled.map(licenseOf).join('\n'))
  for (const file of ['LICENSE', 'CHANGELOG.md', 'README.md']) {
    const own = join(cwd, file)
    cpSync(existsSync(own) ? own : join(ROOT, file), join(dist, file))
  }
}

/** Licenses require their text beside a copy of the code. */
function licenseOf(name: string): string {
  const folder = join(ROOT, 'node_modules', name)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `${name} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8') : ''}`
}

/** A declaration imports a module for its side effects only because its types were removed; the compiler rejects it. */
function dropUnusedImports(dist: string): void {
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(dist, name)
    const text = readFileSync(path, 'utf8')
    const code = text.replaceAll(/^import ["'](?!\.)[^"']+["'];?\n/gm, '')
    if (code !== text) writeFileSync(path, code)
  }
}

if (import.meta.main) await buildPackages()
