import { describe, expect, it } from 'vitest'
import { findCycle, LIBRARY, ROOT, type SourceFile, sourcesIn, target } from './import-graph.ts'

/** The rule, as it is read: a folder imports only folders before it in this list. */
const ORDER = [
  'schema',
  'telemetry',
  'toolkits',
  'credentials',
  'sign-in',
  'connections',
  'catalog',
  'loadout',
  'search',
  'policy',
  'audit',
  'calls',
  'runs',
  'code-mode',
  'workflow',
  'storage',
  'ai',
  'agents',
  'testing',
]
/** Contracts may be imported from anywhere. */
const CONTRACTS = [
  'storage/storage.ts',
  'connections/connection.ts',
  'search/search.ts',
  'code-mode/executor.ts',
  'runs/engine.ts',
]
/** So may the words that all share; they themselves import only the schema and each other. */
const SHARED = ['errors.ts', 'events.ts', 'scope.ts', 'context.ts']
/** But a context is made without the secrets of what it carries, and which those are the toolkits know. */
const BESIDE = 'context.ts → toolkits/secrets/context-secrets.ts'
/** These alone know everyone. */
const ROOTS = [
  'index.ts',
  'host.ts',
  'host-life.ts',
  'host-calls.ts',
  'host-cancel.ts',
  'host-custom.ts',
  'host-runs.ts',
  'host-options.ts',
  'host-reach.ts',
  'host-workflows.ts',
  'thread.ts',
  'node.ts',
]

const library = sourcesIn(LIBRARY)
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] as string) : '')

/** Why an import is not allowed, or undefined. */
function forbidden(from: string, to: string): string | undefined {
  if (ROOTS.includes(from) || CONTRACTS.includes(to) || SHARED.includes(to)) return undefined
  if (`${from} → ${to}` === BESIDE) return undefined
  const [source, goal] = [folderOf(from), folderOf(to)]
  if (SHARED.includes(from)) return goal === 'schema' ? undefined : 'shared words import only the schema'
  if (ROOTS.includes(to)) return source === 'testing' ? undefined : 'nothing imports the composition root'
  if (source === goal) return undefined
  if (!ORDER.includes(source) || !ORDER.includes(goal)) return 'the folder is not in the list'
  return ORDER.indexOf(goal) < ORDER.indexOf(source) ? undefined : `${goal}/ comes after ${source}/`
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
  it('follow the folder order of the library', () => {
    expect(library.length).toBeGreaterThan(50)
    expect(violations(library)).toEqual([])
  })

  it('are checked by a search that finds planted violations', () => {
    const planted = (path: string, imports: string[]): SourceFile => ({ path, text: '', imports })
    const found = violations([
      planted('schema/x.ts', ['../toolkits/registry.ts']),
      planted('toolkits/x.ts', ['../storage/memory.ts', '../storage/storage.ts', '../errors.ts', '../schema/ids.ts']),
      planted('credentials/x.ts', ['../host.ts']),
      planted('misc/x.ts', ['../schema/ids.ts']),
      planted('errors.ts', ['./toolkits/registry.ts']),
    ])
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'schema/x.ts → toolkits/registry.ts',
      'toolkits/x.ts → storage/memory.ts',
      'credentials/x.ts → host.ts',
      'misc/x.ts → schema/ids.ts',
      'errors.ts → toolkits/registry.ts',
    ])
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
