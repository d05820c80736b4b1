/** Builds what is published into `dist/`: JavaScript, declarations, migrations, word vectors, and a package.json that points at them. */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = join(here, 'dist')
const MIGRATIONS = 'storage/sql/migrations'
const VECTORS = 'search/vectors'

rmSync(dist, { recursive: true, force: true })
const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: here, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
for (const data of [MIGRATIONS, VECTORS])
  cpSync(join(here, 'src', data), join(dist, data), { recursive: true, filter: (path) => !path.endsWith('.ts') })

// The compiler renames what is imported; where a thread begins is no import.
const compiled = readdirSync(join(dist, 'code-mode'), { recursive: true, encoding: 'utf8' })
for (const file of compiled.filter((name) => name.endsWith('.js'))) {
  const path = join(dist, 'code-mode', file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(/(new URL\('\.\.?\/[\w/-]+)\.ts(', import\.meta\.url\))/g, '$1.js$2'))
}

const {
  scripts: _scripts,
  devDependencies: _dev,
  ...manifest
} = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
const builtAs = (file: string) => file.replace('./src/', './').replace(/\.ts$/, '')
for (const [entry, file] of Object.entries(manifest.exports as Record<string, string>)) {
  const built = builtAs(file)
  if (entry !== './package.json') manifest.exports[entry] = { types: `${built}.d.ts`, default: `${built}.js` }
}
for (const where of Object.values(manifest.imports as Record<string, Record<string, string>>))
  for (const [condition, file] of Object.entries(where)) where[condition] = `${builtAs(file)}.js`
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['README.md', 'LICENSE']) cpSync(join(here, '../..', file), join(dist, file))
