/** Selections of one thread: their tool lists stay the same from prompt to prompt, so that prompt caches stay valid. */
import { describe, expect, it } from 'vitest'
import { createHost, defineTool, rule } from '../../src/index.ts'

const PROMPTS = [
  'Which invoices are overdue?',
  'Send a reminder for the first one.',
  'Create a ticket about it.',
  'Who works on tickets today?',
  'Assign it to the first of them.',
  'Schedule a meeting for tomorrow.',
  'Save a summary to a file.',
  'Translate the summary.',
  'Which invoices are still open?',
  'Thank you.',
]
const VERBS = ['list', 'create', 'update', 'delete', 'search', 'export']
const NOUNS = ['invoice', 'reminder', 'ticket', 'person', 'meeting', 'file', 'summary', 'order', 'contact', 'report']

/** 60 tools, each with about `extra` more words in its description. */
const sixtyTools = (extra = 0) =>
  VERBS.flatMap((verb) =>
    NOUNS.map((noun) =>
      defineTool({
        name: `${verb}_${noun}`,
        description: `Use this to ${verb} one ${noun}. ${'It checks the values of every field first. '.repeat(extra / 8)}`,
        execute: () => `${verb} ${noun}`,
      }),
    ),
  )

/** Tool lists of a thread of ten turns, as names. Every third turn calls a tool. */
async function converse(tools: ReturnType<typeof sixtyTools>, config = {}) {
  await using host = createHost({ policy: [rule('*', 'allow')], runtime: { config } })
  await host.toolkits.add({ name: 'office', tools })
  const thread = host.user('ann').thread('monday')
  const history: Array<{ role: string; content: string }> = []
  const lists: string[][] = []
  const reported: number[] = []
  let deferred = 0
  for (const [turn, prompt] of PROMPTS.entries()) {
    const selection = await thread.select({ prompt, history })
    lists.push(selection.tools.map(({ entry }) => entry.modelName))
    reported.push(selection.stablePrefix)
    deferred = selection.deferred.length
    const found = selection.tools.findLast(({ by }) => by === 'search' || by === 'loaded')
    if (turn % 3 === 0 && found) await selection.call({ name: found.entry.modelName, arguments: {} })
    history.push({ role: 'user', content: prompt }, { role: 'assistant', content: 'Done.' })
  }
  return { lists, reported, deferred }
}

/** Share of each list that is the beginning of the next one. */
const shares = (lists: readonly string[][]) =>
  lists.slice(1).map((list, at) => {
    const before = lists[at] ?? []
    const changed = before.findIndex((name, index) => name !== list[index])
    return (changed === -1 ? before.length : changed) / before.length
  })

describe('the tool list of a thread with 60 tools', () => {
  it('has all tools in one order below 10,000 tokens, whatever the prompts are', async () => {
    const { lists, reported, deferred } = await converse(sixtyTools())
    expect(deferred).toBe(0)
    expect(lists[0]).toHaveLength(61)
    expect(lists[0]).toContain('read_result')
    expect(new Set(lists.map((list) => list.join())).size).toBe(1)
    expect(reported).toEqual([0, ...PROMPTS.slice(1).map(() => 61)])
  })

  it('keeps at least 90 % of its beginning over ten turns above 10,000 tokens', async () => {
    const { lists, reported, deferred } = await converse(sixtyTools(200))
    expect(deferred).toBeGreaterThan(0)
    expect(lists[0]).toEqual(expect.arrayContaining(['search_tools', 'read_result']))
    expect(new Set(lists.map((list) => list.join())).size).toBeGreaterThan(1)
    expect(Math.min(...shares(lists))).toBeGreaterThanOrEqual(0.9)
    expect(reported.slice(1)).toEqual(shares(lists).map((share, at) => share * (lists[at]?.length ?? 0)))
  })

  it('defers all tools when the setting is 0, and refuses an invalid setting', async () => {
    const { lists, deferred } = await converse(sixtyTools(), { defaults: { deferAboveTokens: 0 } })
    expect(deferred).toBeGreaterThan(0)
    expect(lists[0]?.length).toBeLessThan(10)
    await expect(converse(sixtyTools(), { defaults: { deferAboveTokens: -1 } })).rejects.toMatchObject({
      code: 'config-invalid',
      errors: [{ path: 'runtime.config.defaults.deferAboveTokens' }],
    })
  })
})

describe('a small loadout', () => {
  it('is deferred when the user turned auto-loading off or the app sets a lower limit', async () => {
    await using host = createHost({ policy: [rule('*', 'allow')] })
    await host.toolkits.add({ name: 'office', tools: sixtyTools() })
    const ann = host.user('ann')
    const limited = await ann.thread('t').select({ prompt: 'list tickets', limit: 2 })
    expect(limited.tools.filter(({ by }) => by === 'search')).toHaveLength(2)
    await ann.preferences.update({ autoLoadTools: false })
    const { tools } = await ann.thread('u').select({ prompt: 'list tickets' })
    expect(tools.map(({ entry }) => entry.modelName)).toEqual(['read_result', 'search_tools'])
  })

  it('offers read_result before any result was truncated', async () => {
    await using host = createHost({ policy: [rule('*', 'allow')] })
    const lines = Array.from({ length: 40_000 }, (_, at) => `line ${at}`).join('\n')
    await host.toolkits.add({ name: 'logs', tools: [defineTool({ name: 'read', execute: () => lines })] })
    const selection = await host.user('ann').thread('t').select({ prompt: 'read the logs' })
    expect(selection.tools.map(({ entry }) => entry.modelName)).toEqual(['mcp_logs_read', 'read_result'])
    const outcome = await selection.call({ name: 'mcp_logs_read', arguments: {} })
    const { resultHandle } = outcome as { resultHandle?: string }
    const more = { handle: resultHandle ?? '', fromLine: 39_999, lines: 1 }
    expect(await selection.call({ name: 'read_result', arguments: more })).toMatchObject({ status: 'ok' })
  })
})
