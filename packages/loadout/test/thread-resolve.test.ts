/** From a prompt to what a model gets, over a host whose tools are functions of its own. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Selection } from '../src/calls/selection.ts'
import { quickjs } from '../src/code-mode/quickjs.ts'
import { createExecutionContext } from '../src/context.ts'
import type { HostEvent } from '../src/events.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { rule } from '../src/policy/rules.ts'

/** These loadouts are small. */
const ALWAYS_DEFER = { defaults: { deferAboveTokens: 0 } }
const BUILT_IN = ['loadout.read_result', 'loadout.search_tools']
const ann = { userId: 'ann', threadId: 'work' }
const tool = (name: string, description: string, properties = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required: Object.keys(properties).slice(0, 1) },
  execute: () => `did ${name}`,
})
const text = { type: 'string', description: 'What it is about' }
const github = [
  tool('list_issues', 'Lists the issues of a repository.', { repository: text, state: { enum: ['open', 'closed'] } }),
  tool('create_issue', 'Creates an issue in a repository.', { repository: text, title: text }),
  tool('merge_pull_request', 'Merges a pull request.', { number: { type: 'integer' } }),
]
const mail = [
  tool('send_mail', 'Sends an e-mail to somebody.', { to: text, body: text }),
  tool('find_mail', 'Finds e-mail.'),
]
const many = Array.from({ length: 60 }, (_, index) =>
  tool(`thing_${index}`, `Does the thing number ${index}.`, { text }),
)

let host: HostServices
let events: HostEvent[]
beforeEach(async () => {
  host = createServices({ policy: [rule('*', 'allow')], search: { vectors: false }, app: ALWAYS_DEFER })
  events = []
  host.events.on((event) => events.push(event))
  for (const [name, tools] of Object.entries({ github, mail, many })) await register({ name, tools })
  await register({ name: 'clock', tools: [tool('now', 'Tells the time.')], deferLoading: false })
})
afterEach(() => host.close())

const register = async (input: object, userId = 'ann') => {
  const { stored } = await host.toolkits.register(input, { tier: 'user', userId })
  await host.catalog.introspect(stored, userId)
}
const chosen = (selection: { tools: ReadonlyArray<{ entry: { ref: string } }> }) =>
  selection.tools.map(({ entry }) => entry.ref)

describe('thread.resolve', () => {
  it('returns always-on tools, tools that match the prompt, and search_tools', async () => {
    const selection = await host.thread(ann).select({ prompt: 'create an issue in the repository', limit: 2 })
    expect(chosen(selection)).toEqual(['clock.now', ...BUILT_IN, 'github.create_issue', 'github.list_issues'])
    const found = selection.tools.find(({ by }) => by === 'search')
    expect(found).toMatchObject({ by: 'search', entry: { modelName: 'mcp_github_create_issue' } })
    expect(found?.score).toBeGreaterThan(0)
    expect(found?.reasons.join()).toContain('"issue" in its name')
    expect(selection.deferred).toHaveLength(3 + 2 + 60 - 2)
    expect(selection.tokens).toMatchObject({ tokenizer: 'o200k_base', exact: true })
    expect(selection.tokens.after).toBe(selection.tools.reduce((sum, one) => sum + one.tokens, 0))
    expect(selection.tokens.after).toBeLessThan(selection.tokens.before / 4)
  })

  it('withholds code-only tools from direct callers and declares them to programs', async () => {
    await host.close()
    host = createServices({ policy: [rule('*', 'allow')], executor: quickjs(), app: ALWAYS_DEFER })
    await register({ name: 'many', tools: many })
    const ledger = ['book', 'close', 'sum'].map((name) => tool(`${name}_ledger`, `To ${name} the ledger.`, { text }))
    await register({ name: 'coded', tools: ledger, allowedCallers: ['code'] })
    await register({
      name: 'always',
      tools: [tool('audit_ledger', 'Audits.')],
      allowedCallers: ['code'],
      deferLoading: false,
    })
    await register({ name: 'paper', tools: [tool('print_ledger', 'Prints what the ledger says.')] })
    const thread = host.thread(ann)
    const ofLedger = (selection: Selection) => chosen(selection).filter((ref) => ref.endsWith('_ledger'))
    const plain = await thread.select({ prompt: 'book and close the ledger', limit: 2 })
    expect(ofLedger(plain)).toEqual(['paper.print_ledger'])
    expect(plain.deferred.every(({ allowedCallers }) => allowedCallers.includes('direct'))).toBe(true)
    const found = await plain.call({
      name: 'search_tools',
      arguments: { query: 'ledger', names: ['coded.sum_ledger'] },
    })
    expect(JSON.stringify(found)).toContain('print_ledger')
    expect(JSON.stringify(found)).not.toContain('mcp_coded')
    const coded = await thread.select({ prompt: 'book and close the ledger', limit: 3, programs: true })
    expect(ofLedger(coded)).toEqual(['paper.print_ledger'])
    const declared = coded.tools.find(({ entry }) => entry.tool === 'run_code')?.entry.manifest.description
    for (const name of ['book_ledger', 'close_ledger', 'audit_ledger']) expect(declared).toContain(name)
    expect(coded.tokens.after).toBe(coded.tools.reduce((sum, one) => sum + one.tokens, 0))
    const served = await thread.select({ prompt: 'book the ledger', limit: 1, callers: ['direct', 'code'] })
    expect(ofLedger(served)).toEqual(expect.arrayContaining(['always.audit_ledger', 'coded.book_ledger']))
    expect(plain.tokens.before).toBeLessThan(served.tokens.before)
    const more = await served.call({ name: 'search_tools', arguments: { query: 'close the ledger' } })
    expect(JSON.stringify(more)).toContain('mcp_coded_close_ledger')
  })

  it('keeps selected tools for the next prompt without loading them into the thread', async () => {
    const thread = host.thread(ann)
    const first = chosen(await thread.select({ prompt: 'send an e-mail' }))
    expect(first).toContain('mail.send_mail')
    expect(await thread.loaded()).toEqual([])
    expect(events.filter((event) => 'threadId' in event)).toEqual([])
    expect(chosen(await thread.select({ prompt: '' }))).toEqual(first)
    await thread.load(['mail.send_mail'])
    expect(await thread.loaded()).toEqual([{ ref: 'mail.send_mail', sticky: false }])
    expect(events).toContainEqual({ type: 'tool-loaded', ...ann, ref: 'mail.send_mail' })
    await thread.unload()
    expect(chosen(await thread.select({ prompt: '' }))).toEqual(['clock.now', ...BUILT_IN])
  })

  it('keeps to its token budget and reports dropped tools', async () => {
    const thread = host.thread(ann)
    const free = await thread.select({ prompt: 'issues', limit: 3 })
    const tight = await thread.select({ prompt: 'issues', limit: 3, maxTokens: free.tokens.after - 1 })
    expect(tight.tokens.after).toBeLessThan(free.tokens.after)
    expect(tight.dropped).toHaveLength(1)
    expect(tight.dropped[0]?.reason).toContain('maxTokens')
    // Three dollars a million: a hundredth of a cent buys 33 tokens.
    const paid = await thread.select({ prompt: 'issues', costLimit: 0.0001, pricePerMillion: 3 })
    expect(paid.tokens.after).toBeLessThanOrEqual(33)
    await expect(thread.select({ prompt: 'x', costLimit: 1 })).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'pricePerMillion' }],
    })
  })

  it('does not count loaded tools against the search limit', async () => {
    const thread = host.thread(ann)
    await thread.load(['github.list_issues', 'github.create_issue'])
    const selection = await thread.select({ prompt: 'merge a pull request about issues in a repository', limit: 1 })
    expect(chosen(selection)).toContain('github.merge_pull_request')
    expect(selection.tools.find(({ entry }) => entry.ref === 'github.list_issues')).toMatchObject({
      by: 'loaded',
      score: expect.any(Number),
    })
  })

  it('lists deferred tools that match the prompt first', async () => {
    await register({ name: 'more', tools: Array.from({ length: 90 }, (_, at) => tool(`other_${at}`, 'Does more.')) })
    await register({ name: 'zoo', tools: [tool('feed', 'Feeds the animals.'), tool('wash', 'Washes the animals.')] })
    const { deferred, tools } = await host.thread(ann).select({ prompt: 'animals', limit: 1 })
    const found = [tools.find(({ by }) => by === 'search')?.entry, deferred[0]].map((entry) => entry?.ref)
    expect(found.sort()).toEqual(['zoo.feed', 'zoo.wash'])
  })

  it('returns every tool when all of them cost no more than search_tools', async () => {
    const bob = host.thread({ userId: 'bob', threadId: 'small' })
    await register({ name: 'tiny', tools: [tool('a', 'One.'), tool('b', 'Two.')] }, 'bob')
    const selection = await bob.select({ prompt: 'one' })
    expect(chosen(selection)).toEqual(['tiny.a', 'tiny.b', 'loadout.read_result'])
    expect(selection.tokens.after).toBe(selection.tokens.before)
    expect(chosen(await bob.select({ prompt: 'one', limit: 1 }))).toEqual([...BUILT_IN, 'tiny.a'])
    await host.preferences.update('bob', { autoLoadTools: false })
    const another = host.thread({ userId: 'bob', threadId: 'another' })
    expect(chosen(await another.select({ prompt: 'one' }))).toEqual(BUILT_IN)
  })

  it.each<[string, (thread: ReturnType<HostServices['thread']>) => Promise<unknown>]>([
    ['resolve', (thread) => thread.select(null as never)],
    ['resolve with a number', (thread) => thread.select({ prompt: 5 as never })],
    ['load', (thread) => thread.load('github.list_issues' as never)],
    ['unload', (thread) => thread.unload('github.list_issues' as never)],
    ['search', () => host.search(ann, 5 as never)],
    ['a limit', () => host.search(ann, 'x', { limit: 'two' as never })],
    ['a strategy', () => host.search(ann, 'x', { strategy: 'magic' as never })],
  ])('input that is none is refused by name: %s', async (_, work) => {
    await expect(work(host.thread(ann))).rejects.toMatchObject({ code: 'invalid-input' })
  })

  it('has a thread whose call method returns a failed outcome for invalid input', async () => {
    for (const call of [
      { name: 'clock.now', arguments: null },
      { name: 7, arguments: {} },
    ])
      expect(await host.thread(ann).call(call as never)).toMatchObject({
        status: 'failed',
        error: { code: 'invalid-input' },
      })
    expect((await host.search(ann, 'issues', null as never)).tools.length).toBeGreaterThan(0)
  })

  it('counts tokens for the model family and reports a substitute tokenizer', async () => {
    const { tokens } = await host.thread(ann).select({ prompt: 'issues', model: 'anthropic:claude' })
    expect(tokens.tokenizer).toBe('o200k_base, standing in for anthropic')
  })

  it('uses the history for the search and keeps tools that were called', async () => {
    const history = [
      { role: 'user', content: 'we talk about e-mail' },
      { role: 'assistant', content: [{ type: 'tool-call', toolName: 'mcp_many_thing_7' }] },
    ]
    const selection = await host.thread(ann).select({ prompt: 'send it', history, limit: 1 })
    expect(chosen(selection)).toEqual(['clock.now', ...BUILT_IN, 'many.thing_7', 'mail.send_mail'])
  })

  it('returns always-on tools and search_tools when the user turned off auto-loading', async () => {
    await host.preferences.update('ann', { autoLoadTools: false })
    expect(chosen(await host.thread(ann).select({ prompt: 'issues' }))).toEqual(['clock.now', ...BUILT_IN])
  })

  it('selects no tool that is unavailable in the thread or the call', async () => {
    const thread = host.thread(ann)
    await thread.deactivate('github.create_issue')
    const selection = await thread.select({ prompt: 'create an issue', narrow: { except: ['github.list_*'] } })
    expect(chosen(selection).filter((ref) => ref.startsWith('github'))).toEqual([])
    expect(selection.deferred.map(({ ref }) => ref)).not.toContain('github.create_issue')
  })
})

describe('search_tools', () => {
  it('returns signatures and adds the found tools to the next step and to the thread', async () => {
    const thread = host.thread(ann)
    const selection = await thread.select({ prompt: 'what time is it', limit: 1 })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail', limit: 1 } })
    expect(outcome).toMatchObject({
      status: 'ok',
      structuredContent: { tools: [{ name: 'mcp_mail_send_mail', ref: 'mail.send_mail' }] },
    })
    const [block] = outcome.status === 'ok' ? (outcome.content as Array<{ text: string }>) : []
    expect(block?.text).toContain('- mcp_mail_send_mail(to: string, body?: string): Sends an e-mail to somebody.')
    const next = selection.next()
    expect(chosen(next)).toEqual([...chosen(selection), 'mail.send_mail'])
    expect(next.tokens.after).toBeGreaterThan(selection.tokens.after)
    expect(await next.call({ name: 'mcp_mail_send_mail', arguments: { to: 'bob' } })).toMatchObject({ status: 'ok' })
    expect(await thread.loaded()).toEqual([{ ref: 'mail.send_mail', sticky: false }])
    expect(chosen(await thread.select({ prompt: 'what time is it', limit: 1 }))).toContain('mail.send_mail')
    expect(events).toContainEqual({ type: 'tool-loaded', ...ann, ref: 'mail.send_mail' })
  })

  it('returns schemas for requested names and reports unknown names', async () => {
    const outcome = await host
      .thread(ann)
      .call({ name: 'search_tools', arguments: { names: ['mcp_github_create_issue', 'nothing'] } })
    const [block] = outcome.status === 'ok' ? (outcome.content as Array<{ text: string }>) : []
    const [definition, unknown] = block?.text.split('\n') ?? []
    expect(JSON.parse(definition ?? '')).toMatchObject({
      name: 'mcp_github_create_issue',
      input_schema: { required: ['repository'] },
    })
    expect(unknown).toBe('There is no tool "nothing".')
  })

  it('adds found tools only to the following steps when the thread does not keep them', async () => {
    await host.threads.create('ann', { id: 'work', settings: { keepFound: false } })
    const thread = host.thread(ann)
    const selection = await thread.select({ prompt: 'time', limit: 1 })
    await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail', limit: 1 } })
    expect(chosen(selection.next())).toContain('mail.send_mail')
    expect(await thread.loaded()).toEqual([])
  })

  it('finds only tools that are available to the caller', async () => {
    const thread = host.thread(ann)
    const selection = await thread.select({ prompt: 'time', narrow: { except: ['mail'] } })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail' } })
    expect(JSON.stringify(outcome)).not.toContain('mail.send_mail')
    await register({ name: 'secret', tools: [tool('hidden_mail', 'Sends an e-mail in secret.')] }, 'bob')
    const other = await thread.call({ name: 'search_tools', arguments: { query: 'e-mail in secret' } })
    expect(JSON.stringify(other)).not.toContain('hidden_mail')
  })

  const textOf = (outcome: object) =>
    'content' in outcome ? (outcome.content as Array<{ text: string }>).map((block) => block.text).join('\n') : ''

  it('ranks tools that the model lacks first and lists those it already has', async () => {
    const selection = await host.thread(ann).select({ prompt: 'create an issue', limit: 1 })
    expect(chosen(selection)).toContain('github.create_issue')
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'create an issue', limit: 1 } })
    const [fresh, known] = textOf(outcome).split('These you have already:')
    expect(fresh).toContain('- mcp_github_list_issues(')
    expect(known).toContain('- mcp_github_create_issue(')
    expect(await host.thread(ann).loaded()).toHaveLength(2)
  })

  it('clamps its limit and rejects a limit that is not a number', async () => {
    for (const [limit, most] of [
      [50, 20],
      ['3', 3],
      [0, 1],
      [null, 5],
    ] as const) {
      const { structuredContent } = (await host
        .thread({ ...ann, threadId: `limit ${limit}` })
        .call({ name: 'search_tools', arguments: { query: 'thing', limit } })) as { structuredContent?: { tools: [] } }
      expect(structuredContent?.tools).toHaveLength(most)
    }
    expect(
      await host.thread(ann).call({ name: 'search_tools', arguments: { query: 'x', limit: 'few' } }),
    ).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
  })

  it('reports once which tools the next step has no room for', async () => {
    const thread = host.thread(ann)
    const { tokens } = await thread.select({ prompt: '' })
    const selection = await thread.select({ prompt: '', maxTokens: tokens.after + 40 })
    const search = (query: string) => selection.call({ name: 'search_tools', arguments: { query, limit: 2 } })
    expect(textOf(await search('list issues of a repository'))).toContain('There is no room for mcp_github_')
    await search('create an issue in a repository')
    const { dropped } = selection.next().next()
    expect(dropped.length).toBeGreaterThan(0)
    expect(new Set(dropped.map(({ ref }) => ref)).size).toBe(dropped.length)
    const roomy = await thread.select({ prompt: '' })
    expect(textOf(await roomy.call({ name: 'search_tools', arguments: { query: 'e-mail' } }))).not.toContain('no room')
  })

  it('returns results when the thread has no room to keep all of them', async () => {
    const thread = host.thread(ann)
    const sticky = Array.from({ length: 48 }, (_, at) => `many.thing_${at}`)
    await thread.load(sticky, { sticky: true })
    const outcome = await thread.call({
      name: 'search_tools',
      arguments: { query: 'merge issues in a repository', limit: 3 },
    })
    expect(outcome).toMatchObject({ status: 'ok', structuredContent: { tools: { length: 3 } } })
    const loaded = await thread.loaded()
    expect(loaded.map(({ ref }) => ref).filter((ref) => ref.startsWith('github'))).toHaveLength(2)
    expect(loaded).toHaveLength(50)
    await expect(
      thread.load(['mail.send_mail', 'mail.find_mail', 'many.thing_50'], { sticky: true }),
    ).rejects.toMatchObject({
      code: 'invalid-input',
    })
  })

  it('is recorded in the audit log and rejects invalid arguments', async () => {
    const bad = await host.thread(ann).call({ name: 'search_tools', arguments: {} })
    expect(bad).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    await host.thread(ann).call({ name: 'search_tools', arguments: { query: 'e-mail' } })
    await host.audit.flush()
    const { items } = await host.audit.list({ userId: 'ann' }, { ref: 'loadout.search_tools' })
    expect(items.map(({ outcome }) => outcome)).toContain('ok')
  })

  it('finds only the tools of its invocation', async () => {
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' } })
    await using invocation = await host.setupToolkits(['mail'], { context })
    const selection = await invocation.select({ prompt: 'hello' })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send issues' } })
    expect(JSON.stringify(outcome)).toContain('mail.send_mail')
    expect(JSON.stringify(outcome)).not.toContain('github.')
    expect(chosen(selection.next())).toContain('mail.send_mail')
  })
})

describe('tools loaded in a thread', () => {
  it('stay until they are unloaded, and unavailable tools are rejected or skipped', async () => {
    const thread = host.thread(ann)
    await thread.load(['mail.find_mail'], { sticky: true })
    await thread.load(['github.list_issues'])
    expect(chosen(await thread.select({ prompt: '' }))).toEqual([
      'clock.now',
      ...BUILT_IN,
      'mail.find_mail',
      'github.list_issues',
    ])
    await expect(thread.load(['nobody.knows'])).rejects.toMatchObject({ code: 'not-carried' })
    await thread.deactivate('mail')
    expect(chosen(await thread.select({ prompt: '' }))).not.toContain('mail.find_mail')
    await thread.unload()
    expect(await thread.loaded()).toEqual([])
    expect(events).toContainEqual({ type: 'tool-unloaded', ...ann, ref: 'github.list_issues' })
  })

  it('are limited in number and evict the least recently used tool that is not sticky', async () => {
    const thread = host.thread(ann)
    await thread.load(['mail.find_mail'], { sticky: true })
    for (let index = 0; index < 55; index++) await thread.load([`many.thing_${index}`])
    const loaded = (await thread.loaded()).map(({ ref }) => ref)
    expect(loaded).toHaveLength(50)
    expect(loaded).toContain('mail.find_mail')
    expect(loaded).toContain('many.thing_54')
    expect(loaded).not.toContain('many.thing_0')
  })

  it('stay longer when they are used', async () => {
    const thread = host.thread(ann)
    for (let index = 0; index < 50; index++) await thread.load([`many.thing_${index}`])
    await thread.call({ name: 'many.thing_0', arguments: { text: 'x' } })
    await thread.load(['mail.find_mail'])
    const loaded = (await thread.loaded()).map(({ ref }) => ref)
    expect(loaded).toContain('many.thing_0')
    expect(loaded).not.toContain('many.thing_1')
  })

  it('are unloaded with their toolkit and do not return with a toolkit of the same name', async () => {
    const thread = host.thread(ann)
    await thread.load(['mail.find_mail'], { sticky: true })
    await host.toolkits.remove('mail', { tier: 'user', userId: 'ann' })
    expect(await thread.loaded()).toEqual([])
    expect(events).toContainEqual({ type: 'tool-unloaded', ...ann, ref: 'mail.find_mail' })
    await register({ name: 'mail', tools: [tool('find_mail', 'Deletes everything.')] })
    expect(chosen(await thread.select({ prompt: '' }))).toEqual(['clock.now', ...BUILT_IN])
  })

  it('are not listed and take no room after their app toolkit is removed', async () => {
    const thread = host.thread(ann)
    const kit = { name: 'shop', tools: Array.from({ length: 50 }, (_, at) => tool(`item_${at}`, 'Sells.')) }
    const { stored } = await host.toolkits.register(kit, { tier: 'app' })
    await host.catalog.introspect(stored, 'ann')
    await thread.load(
      kit.tools.map(({ name }) => `shop.${name}`),
      { sticky: true },
    )
    await host.toolkits.remove('shop', { tier: 'app' })
    expect(await thread.loaded()).toEqual([])
    await thread.load(['mail.find_mail'], { sticky: true })
    expect(await thread.loaded()).toEqual([{ ref: 'mail.find_mail', sticky: true }])
  })

  it('belong to one thread and one user', async () => {
    await host.thread(ann).load(['mail.find_mail'])
    expect(await host.thread({ userId: 'ann', threadId: 'other' }).loaded()).toEqual([])
    expect(await host.thread({ userId: 'bob', threadId: 'work' }).loaded()).toEqual([])
    await host.threads.create('ann', { id: 'work' }).catch(() => {})
    await host.threads.delete('ann', 'work')
    expect(await host.thread(ann).loaded()).toEqual([])
  })
})
