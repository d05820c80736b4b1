import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LIBRARY, sourcesIn, target } from './import-graph.ts'

/** What the neutral entries may take from outside the package. */
const NEUTRAL_PACKAGES = [
  'zod',
  'idb',
  'jsonc-parser',
  'smol-toml',
  'yaml',
  'lru-cache',
  'stemmer',
  'gpt-tokenizer/encoding/o200k_base',
  'acorn',
  '@sveltejs/acorn-typescript',
  '@marcbachmann/cel-js',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/client/ext/skills',
  '@opentelemetry/api',
]
const NEUTRAL_ENTRIES = [
  'index.ts',
  'schema/index.ts',
  'storage/memory.ts',
  'storage/indexeddb.ts',
  'code-mode/worker.ts',
  'code-mode/worker-guest.ts',
  'ai/anthropic/anthropic.ts',
  'ai/openai/openai.ts',
]

const byPath = new Map(sourcesIn(LIBRARY).map((file) => [file.path, file]))

/** What the package's own name for a file means where there is no Node. */
function inABrowser(specifier: string): string {
  const { imports } = JSON.parse(readFileSync(join(LIBRARY, '../package.json'), 'utf8'))
  return imports[specifier].default.replace('./src/', '')
}

function outsideOf(entry: string): Map<string, string> {
  const outside = new Map<string, string>()
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    const file = byPath.get(path)
    if (!file) throw new Error(`There is no file ${path}.`)
    for (const specifier of file.imports) {
      if (specifier.startsWith('.')) visit(target(LIBRARY, path, specifier))
      else if (specifier.startsWith('#')) visit(inABrowser(specifier))
      else outside.set(specifier, path)
    }
  }
  visit(entry)
  return outside
}

describe('browser-compatible entries', () => {
  for (const entry of NEUTRAL_ENTRIES)
    it(`${entry} reaches no Node built-in and no package beyond ${NEUTRAL_PACKAGES.join(', ')}`, () => {
      const outside = [...outsideOf(entry)].filter(([specifier]) => !NEUTRAL_PACKAGES.includes(specifier))
      expect(outside).toEqual([])
    })

  it('are checked by a search that finds the built-ins of the Node entry', () => {
    const found = [...outsideOf('node.ts').keys()].filter((specifier) =>
      builtinModules.includes(specifier.replace('node:', '')),
    )
    expect(found).toContain('node:async_hooks')
  })
})

/** Imports that run when the module loads: neither types nor `import()`. */
const STATIC = /(?:^|\n)(?:import|export) (?!type\b)([^'"`;]*?)\s*from '([^']+)'/g

function loadedBy(entry: string): Set<string> {
  const loaded = new Set<string>()
  const visit = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const [, names = '', specifier = ''] of byPath.get(path)?.text.matchAll(STATIC) ?? []) {
      const isTypesOnly =
        /^\{[^}]*\}$/.test(names) && names.split(',').every((name) => /^[{\s]*(type |\}?$)/.test(name))
      if (isTypesOnly) continue
      if (specifier.startsWith('.')) visit(target(LIBRARY, path, specifier))
      else loaded.add(specifier)
    }
  }
  visit(entry)
  return loaded
}

describe('the root entry', () => {
  /** Each of them costs more CPU time to load than the schemas of the library. */
  const LATE = [
    '@modelcontextprotocol/client',
    '@marcbachmann/cel-js',
    'jsonc-parser',
    'smol-toml',
    'yaml',
    'acorn',
    'gpt-tokenizer/encoding/o200k_base',
    'workflow/run/execute-run.ts',
  ]

  it('loads the SDK, workflows, parsers and the tokenizer when they are first used', () => {
    const loaded = loadedBy('index.ts')
    expect(loaded.size).toBeGreaterThan(200)
    expect(LATE.filter((module) => loaded.has(module))).toEqual([])
    expect(LATE.filter((module) => !outsideOf('index.ts').has(module) && !byPath.has(module))).toEqual([])
  })

  it('is checked by a search that finds what a module loads at once', () => {
    expect(loadedBy('workflow/run/execute-run.ts')).toContain('@marcbachmann/cel-js')
    expect(loadedBy('connections/session/session.ts')).toContain('@modelcontextprotocol/client')
  })
})
