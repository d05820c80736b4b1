/** Manifest of a published package, derived from the one in the source tree. */

export interface SourceManifest {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, string>
  imports?: Record<string, Record<string, string>>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  [field: string]: unknown
}

export interface PublishedManifest extends Omit<SourceManifest, 'exports'> {
  exports?: Record<string, { types: string; default: string } | string>
}

const REPOSITORY = 'https://github.com/loadout/loadout'

/** All files are in one folder, so that a URL relative to a chunk is right in every chunk. */
const flat = (path: string) => path.replace(/^\.\//, '').replaceAll('/', '-') || 'index'

/** Returns the manifest and the entries to build: output name → source file. */
export function publishedManifest(source: SourceManifest, folder: string) {
  const { private: _private, scripts: _scripts, devDependencies: _dev, exports, imports, bin, ...rest } = source
  const entries: Record<string, string> = {}
  const add = (name: string, path: string) => {
    entries[name] = path.replace(/^\.\//, '')
    return `./${name}.js`
  }
  const manifest: PublishedManifest = {
    ...rest,
    license: 'MIT',
    engines: { node: '>=22.18' },
    homepage: `${REPOSITORY}#readme`,
    bugs: `${REPOSITORY}/issues`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    publishConfig: { access: 'public', provenance: true },
  }
  if (exports) {
    manifest.exports = {}
    for (const [entry, path] of Object.entries(exports)) {
      if (entry === './package.json') manifest.exports[entry] = path
      else {
        // Two entries of one source share its file.
        const built = Object.entries(entries).find(([, file]) => `./${file}` === path)?.[0]
        const name = built ?? (entry === '.' ? 'index' : flat(entry))
        manifest.exports[entry] = { types: `./${name}.d.ts`, default: add(name, path) }
      }
    }
  }
  if (imports)
    manifest.imports = Object.fromEntries(
      Object.entries(imports).map(([name, conditions]) => [
        name,
        Object.fromEntries(
          Object.entries(conditions).map(([condition, path]) => [
            condition,
            add(`${name.slice(1)}-${condition}`, path),
          ]),
        ),
      ]),
    )
  if (bin)
    manifest.bin = Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, add(name, path).slice(2)]))
  return { manifest, entries }
}
