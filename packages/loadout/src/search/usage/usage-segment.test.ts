import { describe, expect, it } from 'vitest'
import { createServices } from '../../host/create-services.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { memory } from '../../storage/memory.ts'
import { createReadCache } from '../../storage/read-cache.ts'
import { defineTool } from '../../toolkits/define-tool.ts'
import { createSearcher, type SearchOptions } from '../searcher.ts'
import { createToolUsage } from './tool-usage.ts'

const entry = (ref: string, description: string, overrides: Partial<LoadoutEntry> = {}): LoadoutEntry => {
  const [toolkit = '', tool = ''] = ref.split('.')
  return {
    ref,
    modelName: `mcp_${toolkit}_${tool}`,
    tier: 'app',
    toolkit,
    uscoId: `usco_${toolkit}`,
    tool,
    manifest: { name: tool, description, inputSchema: { type: 'object' } },
    deferred: true,
    allowedCallers: ['direct'],
    tokens: 1,
    included: true,
    reasons: [],
    ...overrides,
  }
}
const ENTRIES = [
  entry('github.list_issues', 'Lists the issues of a repository.'),
  entry('github.create_issue', 'Creates an issue in a repository.'),
  entry('files.read_file', 'Reads a file.'),
  entry('files.open_file', 'Opens a file.'),
  entry('mail.send', 'Sends a letter to somebody.'),
]

function world() {
  const storage = memory()
  const learned = createToolUsage({ storage, cache: createReadCache(storage) })
  const searcher = createSearcher({ learned })
  let clock = Date.UTC(2026, 0, 1)
  const used = async (
    userId: string,
    ref: string,
    { prompt, succeeded = true }: { prompt?: string; succeeded?: boolean } = {},
  ) => {
    const [toolkit, tool = ''] = ref.split('.')
    clock += 60_000
    const at = new Date(clock)
    learned.note({
      userId,
      uscoId: `usco_${toolkit}`,
      tool,
      succeeded,
      at,
      prompt: prompt === undefined ? undefined : () => prompt,
    })
    await learned.flush()
  }
  const refs = async (text: string, options: SearchOptions = {}, entries = ENTRIES) =>
    (await searcher.search(entries, text, options)).hits.map(({ ref }) => ref)
  const pass = (ms: number) => {
    clock += ms
  }
  return { used, refs, searcher, pass }
}

describe('learned usage', () => {
  it('finds a tool by the words of earlier prompts and gives the reason', async () => {
    const { used, refs, searcher } = world()
    expect(await refs('sprint leftovers', { userId: 'ann' })).toEqual([])
    await used('ann', 'github.list_issues', { prompt: 'what leftovers has the sprint?' })
    const { hits } = await searcher.search(ENTRIES, 'show sprint leftovers', { userId: 'ann' })
    expect(hits).toHaveLength(1)
    expect(hits[0]).toMatchObject({ ref: 'github.list_issues' })
    expect(hits[0]?.reasons).toContain('"sprint", "leftovers" in what it was used for')
  })

  it('changes nothing for other users', async () => {
    const { used, refs, searcher } = world()
    const before = await searcher.search(ENTRIES, 'read the sprint file', { userId: 'bob' })
    await used('ann', 'mail.send', { prompt: 'read the sprint file' })
    expect(await searcher.search(ENTRIES, 'read the sprint file', { userId: 'bob' })).toEqual(before)
    expect(await searcher.search(ENTRIES, 'read the sprint file')).toEqual(before)
    expect(await refs('read the sprint file', { userId: 'ann' })).toContain('mail.send')
  })

  it('lists each tool once', async () => {
    const { used, refs } = world()
    await used('ann', 'github.list_issues', { prompt: 'issues' })
    const found = await refs('issues of a repository', { userId: 'ann' })
    expect(found).toEqual([...new Set(found)])
    expect(found).toHaveLength(2)
  })

  it('finds no tool that the scope does not include', async () => {
    const { used, refs } = world()
    await used('ann', 'mail.send', { prompt: 'tell the team about the picnic' })
    const without = ENTRIES.map((one) => (one.ref === 'mail.send' ? { ...one, included: false } : one))
    expect(await refs('picnic', { userId: 'ann' })).toEqual(['mail.send'])
    expect(await refs('picnic', { userId: 'ann' }, without)).toEqual([])
    expect(await refs('picnic', { userId: 'ann' }, ENTRIES.slice(0, 4))).toEqual([])
  })

  it('of a toolkit does not apply to another toolkit of the same name', async () => {
    const { used, refs } = world()
    await used('ann', 'mail.send', { prompt: 'picnic' })
    const other = [entry('mail.send', 'Sends a letter.', { uscoId: 'usco_other', tier: 'user' })]
    expect(await refs('picnic', { userId: 'ann' }, other)).toEqual([])
  })

  it('ranks recent successes slightly higher and never outweighs the query', async () => {
    const { used, refs, pass } = world()
    const bob = { userId: 'bob' }
    expect(await refs('file', bob)).toEqual(['files.open_file', 'files.read_file'])
    await used('bob', 'files.read_file')
    expect(await refs('file', bob)).toEqual(['files.read_file', 'files.open_file'])
    await used('bob', 'files.open_file', { succeeded: false })
    await used('bob', 'files.open_file', { succeeded: false })
    expect(await refs('file', bob)).toEqual(['files.read_file', 'files.open_file'])
    pass(200 * 86_400_000)
    await used('bob', 'files.open_file')
    expect(await refs('file', bob)).toEqual(['files.open_file', 'files.read_file'])
    for (let index = 0; index < 30; index++) await used('bob', 'mail.send')
    expect((await refs('read file', bob))[0]).toBe('files.read_file')
  })

  it('counts for a twentieth at most', async () => {
    const { used, searcher } = world()
    const scoreOf = async (userId: string) =>
      (await searcher.search(ENTRIES, 'opens file', { userId })).hits.find(({ ref }) => ref === 'files.read_file')
        ?.score
    const before = (await scoreOf('ann')) as number
    for (let index = 0; index < 50; index++) await used('ann', 'files.read_file')
    const after = (await scoreOf('ann')) as number
    expect(after / before).toBeGreaterThan(0.9)
    expect(after / before).toBeLessThan(1.1)
  })
})

it('tool examples find the tool for every user', async () => {
  const { refs } = world()
  const entries = [...ENTRIES, entry('trip.plan', 'Makes a plan.', { examples: ['where should I go on holiday?'] })]
  expect(await refs('holiday sea', {}, entries)).toEqual(['trip.plan'])
  expect(await refs('holiday sea', { userId: 'ann' }, entries)).toEqual(['trip.plan'])
  const [first, ...rest] = entries.reverse() as [LoadoutEntry]
  const others = [{ ...first, examples: ['what is in my fridge?'] }, ...rest]
  expect(await refs('holiday', {}, others)).toEqual([])
  expect(await refs('fridge', {}, others)).toEqual(['trip.plan'])
})

it('tool examples come from definitions and overrides, never from a server', async () => {
  const look = defineTool({ name: 'look', description: 'Says it.', examples: ['umbrella'], execute: () => 'rain' })
  const host = createServices({ tools: [look] })
  const claimed = { name: 'read', inputSchema: { type: 'object' }, examples: ['zebra'], _meta: { examples: ['zebra'] } }
  const record = { name: 'Kit', url: 'https://example.com/mcp', tools: [claimed] }
  const owner = { tier: 'user', userId: 'ann' } as const
  await host.toolkits.register({ ...record, overrides: { read: { examples: ['giraffe'] } } }, owner)
  const found = async (text: string) => (await host.search({ userId: 'ann' }, text)).tools.map(({ ref }) => ref)
  expect(await found('umbrella')).toEqual(['app.look'])
  expect(await found('giraffe')).toEqual(['kit.read'])
  expect(await found('zebra')).toEqual([])
  const tooMany = { read: { examples: Array(51).fill('x') } }
  await expect(host.toolkits.update('kit', { overrides: tooMany }, owner)).rejects.toMatchObject({
    code: 'invalid-input',
  })
  await host.close()
})

it('earlier messages count a little in a search', async () => {
  const { refs } = world()
  expect((await refs('create it', { context: 'the issue of my repository' }))[0]).toBe('github.create_issue')
  expect((await refs('read a file', { context: 'send a letter to somebody' }))[0]).toBe('files.read_file')
  expect(await refs('yes', { context: 'letter' })).toEqual(['mail.send'])
})
