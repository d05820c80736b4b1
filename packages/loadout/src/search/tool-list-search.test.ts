import { describe, expect, it } from 'vitest'
import { createToolIndex, readTools, search } from './tool-list-search.ts'
import { wordVectors } from './vectors/read-vectors.ts'

const FILE = [
  { id: 'a/1', server: 'files', name: 'read_file', description: 'Reads a file.', inputSchema: { type: 'object' } },
  { id: 'a/2', server: 'files', name: 'read_file', description: 'Reads a file of another kind.', category: 'x' },
  {
    server: 'mail.example',
    serverTitle: 'Post Office',
    name: 'send',
    description: 'Sends a letter.',
    input_schema: {},
  },
]

describe('a plain tool list', () => {
  it('is read in the formats of files and servers', () => {
    expect(readTools(FILE).map(({ id }) => id)).toEqual(['a/1', 'a/2', 'mail.example/send'])
    expect(readTools({ tools: [{ name: 'send', inputSchema: { type: 'object' } }] })).toMatchObject([{ id: 'send' }])
  })

  it.each([
    [[{ description: 'no name' }], '0.name'],
    [{ tools: [{ name: 7 }] }, 'tools.0.name'],
    [{ things: [] }, 'tools'],
  ])('names the path of the error in %j', (json, path) => {
    expect(() => readTools(json)).toThrow(
      expect.objectContaining({ code: 'invalid-input', errors: [expect.objectContaining({ path })] }),
    )
  })

  it('is searched by every strategy, and two tools with one name stay separate', async () => {
    const index = createToolIndex(readTools(FILE), { vectors: wordVectors })
    for (const strategy of ['hybrid', 'bm25', 'semantic', 'regex'] as const) {
      const { hits } = await index.search('letter', { strategy })
      expect(hits[0]).toMatchObject({ id: 'mail.example/send', ref: 'mail.example.send' })
    }
    expect((await index.search('read file')).hits.map(({ id }) => id).sort()).toEqual(['a/1', 'a/2'])
    expect((await index.search('post office')).hits[0]?.id).toBe('mail.example/send')
    expect((await index.search('^files\\.read', { strategy: 'regex' })).hits).toHaveLength(2)
  })

  it('answers one query without an index of its own, by words and by meaning', async () => {
    const { hits, strategy } = await search({ query: 'send a letter', tools: readTools(FILE), limit: 1 })
    expect([strategy, hits.map(({ id }) => id)]).toEqual(['hybrid', ['mail.example/send']])
    const byMeaning = await search({ query: 'correspondence', tools: FILE, strategy: 'semantic', limit: 1 })
    expect(byMeaning.hits.map(({ id }) => id)).toEqual(['mail.example/send'])
  })

  it('is accepted as a server lists it, and a parsed list is read unchanged', async () => {
    const listed = [{ name: 'send', description: 'Sends a letter.', inputSchema: { type: 'object' } }]
    for (const tools of [listed, { tools: listed }, readTools(listed), readTools(readTools(FILE))])
      expect((await search({ query: 'letter', tools })).hits[0]).toMatchObject({ tool: { name: 'send' } })
    expect(readTools(readTools(FILE))).toEqual(readTools(FILE))
    await expect(search({ query: 'letter', tools: [{ name: '' }] })).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: '0.name' }],
    })
  })

  it('reports that semantic search is not available', async () => {
    const words = await search({ query: 'letter', tools: FILE, vectors: false })
    expect([words.strategy, words.warnings]).toEqual(['bm25', undefined])
    const result = await search({ query: 'letter', tools: FILE, vectors: false, strategy: 'hybrid' })
    expect([result.strategy, result.warnings]).toEqual(['bm25', [expect.stringContaining('Words alone')]])
    await expect(search({ query: 'letter', tools: FILE, vectors: false, strategy: 'semantic' })).rejects.toMatchObject({
      errors: [{ path: 'strategy' }],
    })
  })

  it('accepts any embedder, including a plain function', async () => {
    const isMail = (text: string) => /letter|telegram/i.test(text)
    const embed = (texts: string[]) => texts.map((text) => (isMail(text) ? [1, 0] : [0, 1]))
    for (const embedder of [embed, { name: 'mail', embed: async (texts: string[]) => embed(texts) }]) {
      const found = await search({ query: 'telegram', tools: FILE, embedder, vectors: false, strategy: 'semantic' })
      expect([found.strategy, found.warnings, found.hits[0]?.id]).toEqual(['semantic', undefined, 'mail.example/send'])
    }
  })
})
