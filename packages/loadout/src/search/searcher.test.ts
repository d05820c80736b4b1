import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { memory } from '../storage/memory.ts'
import { STRATEGIES } from './search.ts'
import { createSearcher, type SearchOptions } from './searcher.ts'
import type { UserUses } from './usage/tool-usage.ts'
import type { Embedder } from './vectors/embedder.ts'
import { wordVectors } from './vectors/read-vectors.ts'
import { createToolVectors } from './vectors/tool-vectors.ts'
import { WordVectors } from './vectors/word-vectors.ts'

const work = newWork()

const entry = (ref: string, description: string, overrides: Partial<LoadoutEntry> = {}): LoadoutEntry => {
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
    included: true,
    reasons: [],
    ...overrides,
  }
}
const ENTRIES = [
  entry('github.list_issues', 'Lists the issues of a repository.'),
  entry('github.delete_repo', 'Deletes a repository.', { included: false }),
  entry('files.read_file', 'Reads a file.'),
  entry('mail.send', 'Sends a letter to somebody.'),
]
const refs = async (text: string, options: SearchOptions = {}) =>
  (await createSearcher().search(ENTRIES, text, options)).hits.map(({ ref }) => ref)

/** Letters of a text as a direction. */
const letters: Embedder = {
  name: 'letters',
  embed: async (texts) =>
    texts.map((text) => Array.from({ length: 26 }, (_, at) => text.split(String.fromCharCode(97 + at)).length - 0.9)),
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a search', () => {
  it('finds available tools and gives reasons', async () => {
    const { hits, strategy } = await createSearcher().search(ENTRIES, 'issues of my repository')
    expect(strategy).toBe('bm25')
    expect(hits[0]).toMatchObject({ ref: 'github.list_issues' })
    expect(hits[0]?.reasons).toContain('"issues" in its name')
  })

  it('finds tools by the current name of their toolkit', async () => {
    const searcher = createSearcher()
    const named = (toolkitName: string) => [entry('gh.make', 'Makes one.', { toolkitName }), ...ENTRIES.slice(1)]
    const find = async (text: string, entries: LoadoutEntry[]) => (await searcher.search(entries, text)).hits[0]
    expect(await find('tracker', named('GitHub Tracker'))).toMatchObject({
      ref: 'gh.make',
      reasons: ['"tracker" in its toolkit'],
    })
    expect(await find('tracker', named('GitHub'))).toBeUndefined()
  })

  it('by a pattern matches names and words, and plain words are keywords', async () => {
    expect(await refs('^github\\.list', { strategy: 'regex' })).toEqual(['github.list_issues'])
    expect(await refs('(read|send)', { strategy: 'regex' })).toEqual(['files.read_file', 'mail.send'])
    expect((await refs('letter somebody', { strategy: 'regex' }))[0]).toBe('mail.send')
  })

  it.each<[string, string, SearchOptions['strategy']]>([
    ['nothing', '', 'bm25'],
    ['spaces', '   ', 'regex'],
    ['a long pattern', 'a'.repeat(300), 'regex'],
    ['half a pattern', '(((', 'regex'],
    ['meaning without vectors', 'x', 'semantic'],
  ])('rejects %s and says why', async (_name, text, strategy) => {
    await expect(refs(text, { strategy })).rejects.toMatchObject({ code: 'invalid-input' })
  })

  it('finds the visible tool once when one toolkit hides another', async () => {
    const hidden = entry('github.list_issues', 'Lists the issues of everyone.', { tier: 'app', included: false })
    const all = [...ENTRIES, { ...hidden, uscoId: 'usco_app' }]
    const { hits } = await createSearcher().search(all, 'issues of everyone')
    expect(hits.map(({ ref }) => ref)).toEqual(['github.list_issues'])
    expect(hits[0]?.reasons.join()).not.toContain('everyone')
  })

  it('gives the same results over few and over many joined toolkits', async () => {
    const many = Array.from({ length: 50 }, (_, index) => entry(`kit${index}.tool`, `Does thing ${index}.`))
    const searcher = createSearcher()
    const all = [...ENTRIES, ...many]
    expect((await searcher.search(all, 'issues')).hits[0]?.ref).toBe('github.list_issues')
    expect((await searcher.search(all, 'thing 17')).hits[0]?.ref).toBe('kit17.tool')
  })

  it('falls back to words with a warning when vectors cannot be read, and retries later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let reads = 0
    const searcher = createSearcher({
      async vectors() {
        if (reads++ < 2) throw new Error('ENOENT /secret/place')
        return new WordVectors(await wordVectors())
      },
    })
    for (const strategy of ['hybrid', 'semantic', undefined] as const) {
      const { hits, warnings, ...found } = await searcher.search(ENTRIES, 'issues', { strategy })
      expect([hits.length, found.strategy, reads]).toEqual([1, 'bm25', 1])
      expect(warnings).toEqual(['The word vectors cannot be read (Error). Words alone were used.'])
    }
    expect((await searcher.search(ENTRIES, 'issues', { strategy: 'bm25' })).warnings).toBeUndefined()
    for (const [strategy, read] of [
      ['bm25', 2],
      ['hybrid', 3],
    ] as const) {
      vi.setSystemTime(Date.now() + 31_000)
      const later = await searcher.search(ENTRIES, 'issues')
      expect([later.hits[0]?.ref, later.strategy, reads]).toEqual(['github.list_issues', strategy, read])
    }
    expect((await searcher.search(ENTRIES, 'issues')).warnings).toBeUndefined()
    expect(reads).toBe(3)
  })

  it('does not let tools that are given already take the place of others', async () => {
    const many = Array.from({ length: 6 }, (_, index) => entry(`jira.issue_${index}`, 'An issue in the tracker.'))
    const all = [...many, entry('gitlab.ticket', 'Opens an issue for a project.')]
    const existing = new Set(many.map(({ ref }) => ref))
    const searcher = createSearcher()
    expect((await searcher.search(all, 'issue tracker', { limit: 2 })).hits.map(({ ref }) => ref)).not.toContain(
      'gitlab.ticket',
    )
    const { hits, rest } = await searcher.search(all, 'issue tracker', { limit: 2, existing })
    expect(hits.filter(({ ref }) => !existing.has(ref)).map(({ ref }) => ref)).toEqual(['gitlab.ticket'])
    expect(rest).toBeUndefined()
    const few = await searcher.search(all, 'issue tracker', { limit: 1, rest: 3 })
    expect([few.hits.length, few.rest?.length]).toEqual([1, 3])
    expect(few.rest).not.toContain(few.hits[0]?.ref)
  })

  it('of a very long text uses its beginning and end and warns', async () => {
    const filler = Array.from({ length: 20_000 }, (_, at) => `filler${at}`).join(' ')
    for (const text of [`${filler}. Then list the issues.`, `List the issues of ${filler}`]) {
      const { hits, warnings } = await createSearcher().search(ENTRIES, text)
      expect(hits[0]?.ref).toBe('github.list_issues')
      expect(warnings).toEqual([expect.stringContaining('the first and the last 10,000 characters')])
    }
    const short = `Please read this: ${filler.slice(0, 4000)}. Then list the issues.`
    const { hits, warnings } = await createSearcher().search(ENTRIES, short)
    expect(hits[0]).toMatchObject({
      ref: 'github.list_issues',
      reasons: [expect.stringContaining('issues'), expect.anything()],
    })
    expect(warnings).toBeUndefined()
  })
})

describe('a search without matches', () => {
  const vectors = async () => new WordVectors(await wordVectors())
  const searchers = {
    'word vectors': createSearcher({ vectors }),
    'an embedder': createSearcher({ embedded: createToolVectors(letters, memory()) }),
  }
  for (const [name, searcher] of Object.entries(searchers))
    it.each(['thank you', 'hello', 'ok, thanks', 'how are you?'])(
      `small talk finds nothing, with ${name}: %s`,
      async (text) => {
        for (const strategy of ['hybrid', 'semantic'] as const)
          expect((await searcher.search(ENTRIES, text, { strategy })).hits).toEqual([])
      },
    )

  it('finds nothing for unknown words by their spelling', async () => {
    for (const text of ['asdfgh zxcv', 'blorp fnord', '好的谢谢'])
      expect((await searchers['word vectors'].search(ENTRIES, text)).hits).toEqual([])
  })

  it('still finds a single tool by its meaning', async () => {
    const mail = ENTRIES[3] as LoadoutEntry
    const { hits } = await searchers['word vectors'].search([mail], 'deliver a message')
    expect(hits).toMatchObject([{ ref: 'mail.send', reasons: ['It means something alike.'] }])
    expect(hits[0]?.score).toBeGreaterThan(0.3)
  })
})

it('encoded text is not searched as words', async () => {
  const blob = Array.from({ length: 3000 }, (_, at) => 'read+File/Send0=delete'[(at * at) % 22]).join('')
  const { hits, warnings } = await createSearcher().search(ENTRIES, `Show the issues: ${blob}`)
  expect(hits.map(({ ref }) => ref)).toEqual(['github.list_issues'])
  expect(warnings).toBeUndefined()
})

const WORDS = ['issue', 'file', 'letter', 'send', 'read', 'delete', 'repository', '資料', 'naïve', 'x']
const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((all) => all.join(' '))
const scopes = fc
  .uniqueArray(
    fc.record({
      toolkit: fc.constantFrom('github', 'files', 'mail', 'app', 'kit1', 'kit2', 'kit3', 'kit4', 'kit5', 'kit6'),
      tool: fc.constantFrom('list', 'read_file', 'send', 'deleteAll', 'x', 'a.b'),
      tier: fc.constantFrom<LoadoutEntry['tier'][]>('app', 'user', 'call'),
      description: words,
      examples: fc.option(fc.array(words, { maxLength: 2 }), { nil: undefined }),
      included: fc.boolean(),
    }),
    { selector: ({ toolkit, tool }) => `${toolkit}.${tool}`, maxLength: 40 },
  )
  .map((tools) => {
    // Of one toolkit all are of one tier.
    const tiers = new Map(tools.map(({ toolkit, tier }) => [toolkit, tier]))
    return tools.map(({ toolkit, tool, description, examples, included }) =>
      entry(`${toolkit}.${tool}`, description, {
        tool,
        included,
        tier: tiers.get(toolkit) as LoadoutEntry['tier'],
        uscoId: `usco_${toolkit}`,
        ...(examples ? { examples } : {}),
      }),
    )
  })
const usesOf = fc.array(
  fc.record({
    uscoId: fc.constantFrom('usco_github', 'usco_files', 'usco_mail', 'usco_kit1', 'usco_gone'),
    tool: fc.constantFrom('list', 'read_file', 'send', 'deleteAll', 'gone'),
    calls: fc.nat(20),
    successes: fc.nat(20),
    lastUsedAt: fc.nat(1_000_000_000),
    examples: fc.array(words, { maxLength: 3 }),
  }),
  { maxLength: 12 },
)

describe('any search', () => {
  const query = { text: words, strategy: fc.constantFrom(...STRATEGIES), limit: fc.integer({ min: -1, max: 60 }) }
  const searcherOf = (uses: Record<string, UserUses>) =>
    createSearcher({
      learned: { list: async (userId) => uses[userId] ?? [] },
      embedded: createToolVectors(letters, memory()),
    })

  it('finds only available tools and each only once', () =>
    fc.assert(
      fc.asyncProperty(
        scopes,
        fc.record(query),
        fc.tuple(usesOf, usesOf),
        async (entries, { text, ...options }, [ann, bob]) => {
          const searcher = searcherOf({ ann, bob })
          const includedRefs = new Set(entries.filter(({ included }) => included).map(({ ref }) => ref))
          for (const userId of ['ann', 'bob', undefined]) {
            const { hits } = await searcher.search(entries, text, { ...options, userId })
            expect(hits.filter(({ ref }) => !includedRefs.has(ref))).toEqual([])
            expect(new Set(hits.map(({ ref }) => ref)).size).toBe(hits.length)
            expect(hits.length).toBeLessThanOrEqual(Math.max(1, options.limit))
            expect(hits.every(({ score }) => score > 0 && score <= 1.0001)).toBe(true)
          }
        },
      ),
      { numRuns: 200 },
    ))

  it('gives the same answer again, in another process and without the usage of others', () =>
    fc.assert(
      fc.asyncProperty(
        scopes,
        fc.record(query),
        fc.tuple(usesOf, usesOf),
        async (entries, { text, ...options }, [ann, bob]) => {
          const one = searcherOf({ ann, bob })
          const ask = (searcher: typeof one, userId?: string) => searcher.search(entries, text, { ...options, userId })
          await ask(one, 'bob')
          const first = await ask(one, 'ann')
          expect(await ask(one, 'ann')).toEqual(first)
          expect(await ask(searcherOf({ ann, bob: [] }), 'ann')).toEqual(first)
          expect(await ask(searcherOf({ ann: [], bob }))).toEqual(await ask(one))
        },
      ),
      { numRuns: 100 },
    ))

  it('of odd text answers or rejects in bounded steps', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc
            .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 })
            .map((codes) => String.fromCharCode(...codes)),
          fc.constantFrom('(a+)+$', '(a|a)*b', '((a{1,100}){1,100}){1,100}', '[', '\\', '^(?:.*)*$', '🧨'.repeat(50)),
          fc.constantFrom('issues ', '🧨', '\ud800', 'あ', '(', 'a').map((one) => one.repeat(1_000_000 / one.length)),
        ),
        fc.constantFrom(...STRATEGIES),
        async (text, strategy) => {
          const outcome = await work.within({ steps: 2_000_000, ms: 5000 }, () =>
            searcherOf({})
              .search(ENTRIES, text, { strategy, context: text })
              .catch((error: unknown) => error),
          )
          if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'invalid-input' })
          else expect(outcome).toMatchObject({ hits: expect.any(Array) })
        },
      ),
      { numRuns: process.env.LOADOUT_PROVE === 'full' ? 300 : 100 },
    ))
})
