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
