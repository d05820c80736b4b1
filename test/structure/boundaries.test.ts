import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycle, LIBRARY, ROOT, type SourceFile, sourcesIn, target } from './import-graph.ts'

/** The rule of ARCHITECTURE.md: a file imports its own layer and lower ones. */
const LAYERS = [
  ['util', 'schema', 'json-schema', 'errors.ts', 'events.ts'],
  ['storage', 'credentials', 'telemetry', 'processes'],
  ['toolkits', 'oauth', 'connections', 'catalog', 'context.ts'],
  ['threads', 'loadout', 'search', 'policy', 'audit', 'calls', 'runs', 'code-mode', 'workflow', 'users'],
  ['host', 'thread.ts', 'ai', 'agents', 'testing', 'index.ts', 'services.ts', 'node.ts', 'tool-search.ts'],
]
/** Contracts may be imported from anywhere. */
const CONTRACTS = [
  'storage/storage.ts',
  'connections/connection.ts',
  'search/search.ts',
  'code-mode/executor.ts',
  'runs/engine.ts',
]

const library = sourcesIn(LIBRARY)
const layerOf = (path: string) => LAYERS.findIndex((layer) => layer.includes(path.split('/')[0] as string))

/** Why an import is not allowed, or undefined. */
function forbidden(from: string, to: string): string | undefined {
  if (CONTRACTS.includes(to)) return undefined
  const [source, goal] = [layerOf(from), layerOf(to)]
  if (source < 0 || goal < 0) return 'the folder is in no layer'
  return goal <= source ? undefined : `layer ${goal + 1} is above layer ${source + 1}`
}

function violations(files: SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => target(LIBRARY, path, specifier))
      .flatMap((to) => {
        const why = forbidden(path, to)
        return why === undefined ? [] : [`${path} → ${to}: ${why}`]
      }),
  )
}

describe('import boundaries', () => {
  it('follow the layers of the library', () => {
    expect(library.length).toBeGreaterThan(50)
    expect(violations(library)).toEqual([])
  })

  it('are checked by a search that finds planted violations', () => {
    const planted = (path: string, imports: string[]): SourceFile => ({ path, text: '', imports })
    const found = violations([
      planted('schema/x.ts', ['../toolkits/registry.ts']),
      planted('toolkits/x.ts', ['../calls/calls.ts', '../runs/engine.ts', '../errors.ts', '../schema/ids.ts']),
      planted('credentials/x.ts', ['../host/create-host.ts']),
      planted('misc/x.ts', ['../schema/ids.ts']),
      planted('errors.ts', ['./toolkits/registry.ts']),
    ])
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'schema/x.ts → toolkits/registry.ts',
      'toolkits/x.ts → calls/calls.ts',
      'credentials/x.ts → host/create-host.ts',
      'misc/x.ts → schema/ids.ts',
      'errors.ts → toolkits/registry.ts',
    ])
  })

  it('match the layers that ARCHITECTURE.md shows', () => {
    const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const block = /## Layers\n\n```\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
    const shown = block
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(1))
    expect(shown).toEqual(LAYERS.map((layer) => layer.map((name) => name.replace(/\.ts$/, ''))))
  })

  it('contain no import cycles', () => {
    expect(findCycle(LIBRARY, library)).toBeUndefined()
    for (const app of ['server', 'cli', 'web']) {
      const folder = `${ROOT}/apps/${app}/src`
      expect(findCycle(folder, sourcesIn(folder))).toBeUndefined()
    }
    const ring = ['a', 'b'].map((name, i) => ({ path: `${name}.ts`, text: '', imports: [`./${'ba'[i]}.ts`] }))
    expect(findCycle(LIBRARY, ring)).toEqual(['a.ts', 'b.ts', 'a.ts'])
  })

  it('let apps and examples import only the public library', () => {
    for (const folder of ['apps', 'examples', 'bench'])
      for (const { path, imports } of sourcesIn(`${ROOT}/${folder}`, { tests: true }))
        for (const specifier of imports) expect(`${folder}/${path}: ${specifier}`).not.toMatch(/loadout\/src/)
  })
})
