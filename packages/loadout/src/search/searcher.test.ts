import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { createSearcher } from './searcher.ts'

const entry = (ref: string, description: string, included = true): LoadoutEntry => {
  const [toolkit = '', tool = ''] = ref.split('.')
  return {
    ref,
    modelName: `mcp_${toolkit}_${tool}`,
    tier: 'user',
    toolkit,
    tool,
    manifest: { name: tool, description, inputSchema: { type: 'object' } },
    deferred: true,
    allowedCallers: ['direct'],
    tokens: 10,
    included,
    reasons: [],
  }
}
const ENTRIES = [
  entry('github.list_issues', 'Lists the issues of a repository.'),
  entry('github.delete_repo', 'Deletes a repository.', false),
  entry('files.read_file', 'Reads a file.'),
  entry('mail.send', 'Sends a letter to somebody.'),
]
const refs = async (text: string, options = {}) =>
  (await createSearcher().search(ENTRIES, text, options)).hits.map(({ ref }) => ref)

describe('a search', () => {
  it('finds what is carried, and says why', async () => {
    const { hits, strategy } = await createSearcher().search(ENTRIES, 'issues of my repository')
    expect(strategy).toBe('bm25')
    expect(hits[0]).toMatchObject({ ref: 'github.list_issues' })
    expect(hits[0]?.reasons).toContain('"issues" in its name')
  })

  it('never finds what the scope does not carry', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom('delete repo', 'github.delete_repo', 'repository', 'delete'),
        fc.constantFrom('bm25', 'regex', 'hybrid'),
        async (text, strategy) => {
          expect(await refs(text, { strategy })).not.toContain('github.delete_repo')
        },
      ),
    ))

  it('by a pattern fits names and words; words that are none are keywords', async () => {
    expect(await refs('^github\\.list', { strategy: 'regex' })).toEqual(['github.list_issues'])
    expect(await refs('(read|send)', { strategy: 'regex' })).toEqual(['files.read_file', 'mail.send'])
    expect((await refs('letter somebody', { strategy: 'regex' }))[0]).toBe('mail.send')
  })

  it.each([
    ['nothing', '', 'bm25'],
    ['spaces', '   ', 'regex'],
    ['a long pattern', 'a'.repeat(300), 'regex'],
    ['half a pattern', '(((', 'regex'],
    ['meaning without vectors', 'x', 'semantic'],
  ])('refuses %s with what is wrong', async (_name, text, strategy) => {
    await expect(refs(text, { strategy })).rejects.toMatchObject({ code: 'invalid-input' })
  })

  it('of a megabyte, of emoji, or of a pattern that is made to block takes no time', async () => {
    const started = performance.now()
    await refs('issues '.repeat(150_000))
    await refs('🧨🧨🧨🧨')
    await refs('(a+)+$', { strategy: 'regex' })
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('is the same over few toolkits and over many that are joined', async () => {
    const many = Array.from({ length: 50 }, (_, index) => entry(`kit${index}.tool`, `Does thing ${index}.`))
    const searcher = createSearcher()
    const all = [...ENTRIES, ...many]
    expect((await searcher.search(all, 'issues')).hits[0]?.ref).toBe('github.list_issues')
    expect((await searcher.search(all, 'thing 17')).hits[0]?.ref).toBe('kit17.tool')
  })
})
