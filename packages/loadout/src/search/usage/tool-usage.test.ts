import { afterEach, describe, expect, it } from 'vitest'
import { preparedBackup } from '../../../../../test/prepare-pglite.ts'
import { createCallAudit } from '../../audit/call-audit.ts'
import type { CallOutcome, ToolCall } from '../../calls/call.ts'
import { removedAt, withLearning } from '../../calls/stages/with-learning.ts'
import { createEmitter } from '../../events.ts'
import { createServices } from '../../host/create-services.ts'
import { memory } from '../../storage/memory.ts'
import { pglite } from '../../storage/pglite.ts'
import { createReadCache } from '../../storage/read-cache.ts'
import type { Storage } from '../../storage/storage.ts'
import { sampleLoadedToolRow, sampleToolUseRow } from '../../testing/suites/storage/rows.ts'
import { createPreferences } from '../../threads/preferences.ts'
import { noteRemoval } from '../../users/removals.ts'
import { createToolUsage, exampleText, type NotedUse } from './tool-usage.ts'

const open: Storage[] = []
afterEach(() => Promise.all(open.splice(0).map((storage) => storage.close())))

function learning(storage: Storage = memory()) {
  if (!open.includes(storage)) open.push(storage)
  const cache = createReadCache(storage)
  const learned = createToolUsage({ storage, cache, goneSince: removedAt })
  const preferences = createPreferences({ storage, cache, events: createEmitter() })
  return { storage, learned, preferences }
}

const use = (overrides: Partial<Omit<NotedUse, 'prompt'>> & { prompt?: string } = {}): NotedUse => ({
  userId: 'ann',
  uscoId: 'usco_files',
  tool: 'read_file',
  succeeded: true,
  at: new Date(),
  ...overrides,
  prompt: overrides.prompt === undefined ? undefined : () => overrides.prompt as string,
})

describe('learned usage', () => {
  it('is counted with its prompts shortly after a call', async () => {
    const { learned } = learning()
    expect(learned.note(use({ prompt: 'show me my notes' }))).toBeUndefined()
    learned.note(use({ succeeded: false, prompt: 'this went wrong' }))
    learned.note(use({ prompt: 'open the diary' }))
    await learned.flush()
    expect(await learned.list('ann')).toMatchObject([
      { tool: 'read_file', calls: 3, successes: 2, examples: ['show me my notes', 'open the diary'] },
    ])
  })

  it('is private to each user', async () => {
    const { learned } = learning()
    learned.note(use({ prompt: 'the plan of ann' }))
    learned.note(use({ userId: 'bob', prompt: 'the plan of bob' }))
    await learned.flush()
    expect((await learned.list('ann')).flatMap(({ examples }) => examples)).toEqual(['the plan of ann'])
    expect((await learned.list('bob')).flatMap(({ examples }) => examples)).toEqual(['the plan of bob'])
    expect(await learned.list('cyd')).toEqual([])
  })

  it('keeps each prompt once, newest last, up to a limit', async () => {
    const { learned } = learning()
    for (let index = 0; index < 25; index++) {
      learned.note(use({ prompt: `question number ${index}`, at: new Date(index + 1) }))
      if (index % 10 === 0) await learned.flush()
    }
    learned.note(use({ prompt: 'Question  number 12', at: new Date(100) }))
    await learned.flush()
    const [only] = await learned.list('ann')
    expect(only?.examples).toHaveLength(20)
    expect(only?.examples.at(-1)).toBe('Question number 12')
    expect(only?.examples).not.toContain('question number 12')
    expect(only?.examples).not.toContain('question number 0')
  })

  it('keeps a limited number of tools and drops the least recently used', async () => {
    const { learned } = learning()
    for (let index = 0; index < 230; index++) learned.note(use({ tool: `tool_${index}`, at: new Date(index + 1) }))
    await learned.flush()
    const uses = await learned.list('ann')
    expect(uses).toHaveLength(200)
    expect(Math.min(...uses.map(({ lastUsedAt }) => lastUsedAt))).toBe(31)
  })

  it('is counted by several processes without loss', async () => {
    const storage = memory()
    const [one, two] = [learning(storage).learned, learning(storage).learned]
    for (let index = 0; index < 20; index++) {
      one.note(use({ prompt: `one ${index}` }))
      two.note(use({ prompt: `two ${index}` }))
      await Promise.all([one.flush(), two.flush()])
    }
    expect(await one.list('ann')).toMatchObject([{ calls: 40, successes: 40 }])
    expect(await two.list('ann')).toMatchObject([{ calls: 40, successes: 40 }])
  })

  it('is deleted when the user turns learning off, and nothing is learned after that', async () => {
    const { learned, preferences } = learning()
    learned.note(use({ prompt: 'before' }))
    await learned.flush()
    learned.note(use({ prompt: 'on its way' }))
    await preferences.update('ann', { learnFromUse: false })
    expect(await learned.list('ann')).toEqual([])
    await learned.flush()
    learned.note(use({ prompt: 'after' }))
    await learned.flush()
    expect(await learned.list('ann')).toEqual([])
    await preferences.update('ann', { learnFromUse: true })
    learned.note(use({ prompt: 'again' }))
    await learned.flush()
    expect((await learned.list('ann'))[0]?.examples).toEqual(['again'])
  })

  it('is not written for a removed user, and a new user with the same ID starts empty', async () => {
    const { storage, learned } = learning()
    learned.note(use({ prompt: 'before' }))
    await noteRemoval(storage, 'ann')
    await learned.flush()
    expect(await learned.list('ann')).toEqual([])
    learned.note(use({ prompt: 'forgotten' }))
    learned.forget('ann')
    await learned.flush()
    expect(await learned.list('ann')).toEqual([])
    learned.note(use({ prompt: 'somebody else', at: new Date(Date.now() + 5000) }))
    await learned.flush()
    expect((await learned.list('ann'))[0]?.examples).toEqual(['somebody else'])
  })

  it('is not stored when the app turns learning off', async () => {
    const storage = memory()
    open.push(storage)
    const learned = createToolUsage({ storage, cache: createReadCache(storage), enabled: false })
    learned.note(use({ prompt: 'x' }))
    await learned.flush()
    expect(await learned.list('ann')).toEqual([])
    expect(await storage.transaction({ userId: 'ann' }, (tx) => tx.list('toolUses'))).toEqual([])
  })

  it('stores odd prompts as valid database text', async () => {
    const { learned } = learning(pglite(await preparedBackup()))
    for (const prompt of ['half \ud83d of it', 'a\0b c', '😀😀', ' ', `${'x'.repeat(399)}😀 y`, 'z'.repeat(100_000)])
      learned.note(use({ prompt }))
    await learned.flush()
    const [only] = await learned.list('ann')
    expect(only?.calls).toBe(6)
    expect(only?.examples.every((text) => text.isWellFormed() && text.length <= 400)).toBe(true)
    expect(only?.examples).toHaveLength(4)
  })
})

it('removing a toolkit deletes its learned usage, and deleting a thread its loaded tools', async () => {
  const storage = memory()
  const host = createServices({ storage })
  const ann = { userId: 'ann' }
  const { stored } = await host.toolkits.register(
    { name: 'Kit', url: 'https://example.com/mcp' },
    { tier: 'user', ...ann },
  )
  await host.threads.create('ann', { id: 'one' })
  await storage.transaction(ann, async (tx) => {
    await tx.insertAll('toolUses', [
      sampleToolUseRow('ann', { uscoId: stored.uscoId }),
      sampleToolUseRow('ann', { toolUseId: 'kept' }),
    ])
    await tx.insertAll('loadedTools', [
      sampleLoadedToolRow('ann', { threadId: 'one' }),
      sampleLoadedToolRow('ann', { threadId: 'two', loadedToolId: 'kept' }),
    ])
  })
  await host.toolkits.remove('kit', { tier: 'user', ...ann })
  await host.threads.delete('ann', 'one')
  await storage.transaction(ann, async (tx) => {
    expect((await tx.list('toolUses')).map(({ toolUseId }) => toolUseId)).toEqual(['kept'])
    expect((await tx.list('loadedTools')).map(({ loadedToolId }) => loadedToolId)).toEqual(['kept'])
  })
  await host.close()
})

it('exampleText keeps the words of a prompt on one line', () => {
  expect(exampleText('  read\n\n my\tnotes  ')).toBe('read my notes')
  expect(exampleText('the key is ••• for it')).toBe('the key is for it')
  expect(exampleText('•••')).toBe('')
  expect(exampleText('zero\u200bwidth')).toBe('zerowidth')
})

describe('a call', () => {
  const stored = { uscoId: 'usco_mail', toolkit: { id: 'mail' }, row: { updatedAt: new Date() } } as never
  const found = { manifest: { name: 'send' } } as never
  const SECRET = 'hunter2-but-longer'
  const audit = createCallAudit({ record: () => {}, secrets: { list: () => [SECRET] } })
  const callOf = (prompt: string | undefined, notes: object = {}): ToolCall => {
    const call = {
      userId: 'ann',
      toolkit: 'mail',
      tool: 'send',
      arguments: {},
      callId: 'c',
      prompt,
    } as never as ToolCall
    call.notes = { reached: true, ...notes }
    call.notes.resolved = { ...call, stored, found }
    return call
  }
  const made = async (call: ToolCall, outcome: Partial<CallOutcome> = { status: 'ok', content: [] }) => {
    const { learned } = learning()
    const handler = withLearning({ usage: learned, audit, loaded: { touch() {} } })(async () => outcome as CallOutcome)
    expect(await handler(call)).toBe(outcome)
    await learned.flush()
    return (await learned.list('ann'))[0]
  }

  it('that succeeds stores its prompt as an example without secrets', async () => {
    const key = `ghp_${'a1B2'.repeat(9)}`
    const redacted = await made(callOf(`log in with ${SECRET} or ${key} and write to bob`))
    expect(redacted).toMatchObject({ uscoId: 'usco_mail', tool: 'send', calls: 1, successes: 1 })
    expect(redacted?.examples).toEqual(['log in with or and write to bob'])
  })

  it('that fails is counted and stores no example', async () => {
    expect(await made(callOf('write to bob'), { status: 'tool-error', content: [] })).toMatchObject({
      calls: 1,
      successes: 0,
      examples: [],
    })
  })

  it.each([
    ['never reached its server', { reached: false }],
    ['is of a user who went', { isForgotten: true }],
  ])('learns nothing from a prompt that %s', async (_name, notes) => {
    expect(await made(callOf('write to bob', notes))).toBeUndefined()
  })
})
