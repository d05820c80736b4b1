/** From a prompt to what a model gets, over a host whose tools are functions of its own. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createExecutionContext } from './context.ts'
import type { HostEvent } from './events.ts'
import { createHost, type Host } from './host.ts'
import { rule } from './policy/rule.ts'

const ann = { userId: 'ann', threadId: 'work' }
const tool = (name: string, description: string, properties = {}) => ({
  ...{ name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties).slice(0, 1) } },
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

let host: Host
let events: HostEvent[]
beforeEach(async () => {
  host = createHost({ policy: [rule('*', 'allow')] })
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
  it('gives what never waits, what the prompt needs, and the way to the rest', async () => {
    const selection = await host.thread(ann).resolve({ prompt: 'create an issue in the repository', limit: 2 })
    expect(chosen(selection)).toEqual([
      'clock.now',
      'github.create_issue',
      'github.list_issues',
      'loadout.search_tools',
    ])
    const [, found] = selection.tools
    expect(found).toMatchObject({ by: 'search', entry: { modelName: 'mcp_github_create_issue' } })
    expect(found?.score).toBeGreaterThan(0)
    expect(found?.reasons.join()).toContain('"issue" in its name')
    expect(selection.deferred).toHaveLength(3 + 2 + 60 - 2)
    expect(selection.tokens).toMatchObject({ tokenizer: 'o200k_base', exact: true })
    expect(selection.tokens.after).toBe(selection.tools.reduce((sum, one) => sum + one.tokens, 0))
    expect(selection.tokens.after).toBeLessThan(selection.tokens.before / 4)
  })

  it('loads nothing for later: it is for this call only', async () => {
    const thread = host.thread(ann)
    await thread.resolve({ prompt: 'send an e-mail' })
    expect(await thread.loaded()).toEqual([])
    expect(chosen(await thread.resolve({ prompt: '' }))).toEqual(['clock.now', 'loadout.search_tools'])
  })

  it('keeps to its budget and says what found no room', async () => {
    const thread = host.thread(ann)
    const free = await thread.resolve({ prompt: 'issues', limit: 3 })
    const tight = await thread.resolve({ prompt: 'issues', limit: 3, maxTokens: free.tokens.after - 1 })
    expect(tight.tokens.after).toBeLessThan(free.tokens.after)
    expect(tight.dropped).toHaveLength(1)
    expect(tight.dropped[0]?.reason).toContain('maxTokens')
    // Three dollars a million: a hundredth of a cent buys 33 tokens.
    const paid = await thread.resolve({ prompt: 'issues', costLimit: 0.0001, pricePerMillion: 3 })
    expect(paid.tokens.after).toBeLessThanOrEqual(33)
    await expect(thread.resolve({ prompt: 'x', costLimit: 1 })).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'pricePerMillion' }],
    })
  })

  it('counts for the family of the model, and says when another stands in', async () => {
    const { tokens } = await host.thread(ann).resolve({ prompt: 'issues', model: 'anthropic:claude' })
    expect(tokens.tokenizer).toBe('o200k_base, standing in for anthropic')
  })

  it('hears what was said before, a little, and keeps tools that were called', async () => {
    const history = [
      { role: 'user', content: 'we talk about e-mail' },
      { role: 'assistant', content: [{ type: 'tool-call', toolName: 'mcp_many_thing_7' }] },
    ]
    const selection = await host.thread(ann).resolve({ prompt: 'send it', history, limit: 1 })
    expect(chosen(selection)).toEqual(['clock.now', 'many.thing_7', 'mail.send_mail', 'loadout.search_tools'])
  })

  it('a user who wants no search by themselves gets what is loaded, and search_tools', async () => {
    await host.preferences.update('ann', { autoLoadTools: false })
    expect(chosen(await host.thread(ann).resolve({ prompt: 'issues' }))).toEqual(['clock.now', 'loadout.search_tools'])
  })

  it('chooses nothing that the thread or the call does not carry', async () => {
    const thread = host.thread(ann)
    await thread.deactivate('github.create_issue')
    const selection = await thread.resolve({ prompt: 'create an issue', narrow: { except: ['github.list_*'] } })
    expect(chosen(selection).filter((ref) => ref.startsWith('github'))).toEqual([])
    expect(selection.deferred.map(({ ref }) => ref)).not.toContain('github.create_issue')
  })
})

describe('search_tools', () => {
  it('answers with signatures, and what it found is there in the next step and stays for the thread', async () => {
    const thread = host.thread(ann)
    const selection = await thread.resolve({ prompt: 'what time is it', limit: 1 })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail', limit: 1 } })
    expect(outcome).toMatchObject({
      status: 'ok',
      structuredContent: { tools: [{ name: 'mcp_mail_send_mail', ref: 'mail.send_mail' }] },
    })
    const [block] = outcome.status === 'ok' ? (outcome.content as Array<{ text: string }>) : []
    expect(block?.text).toContain('- mcp_mail_send_mail(to: string, body?: string): Sends an e-mail to somebody.')
    const next = selection.next()
    expect(chosen(next)).toEqual([...chosen(selection).slice(0, -1), 'mail.send_mail', 'loadout.search_tools'])
    expect(next.tokens.after).toBeGreaterThan(selection.tokens.after)
    expect(await next.call({ name: 'mcp_mail_send_mail', arguments: { to: 'bob' } })).toMatchObject({ status: 'ok' })
    expect(await thread.loaded()).toEqual([{ ref: 'mail.send_mail', sticky: false }])
    expect(chosen(await thread.resolve({ prompt: 'what time is it', limit: 1 }))).toContain('mail.send_mail')
    expect(events).toContainEqual({ type: 'tool-loaded', ...ann, ref: 'mail.send_mail' })
  })

  it('gives schemas where they are asked for by name, and says which names there are not', async () => {
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

  it('a thread that keeps nothing: found for the following steps, and gone after', async () => {
    await host.threads.create('ann', { id: 'work', settings: { keepFound: false } })
    const thread = host.thread(ann)
    const selection = await thread.resolve({ prompt: 'time', limit: 1 })
    await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail', limit: 1 } })
    expect(chosen(selection.next())).toContain('mail.send_mail')
    expect(await thread.loaded()).toEqual([])
  })

  it('finds nothing that the caller was not given', async () => {
    const thread = host.thread(ann)
    const selection = await thread.resolve({ prompt: 'time', narrow: { except: ['mail'] } })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send an e-mail' } })
    expect(JSON.stringify(outcome)).not.toContain('mail.send_mail')
    await register({ name: 'secret', tools: [tool('hidden_mail', 'Sends an e-mail in secret.')] }, 'bob')
    const other = await thread.call({ name: 'search_tools', arguments: { query: 'e-mail in secret' } })
    expect(JSON.stringify(other)).not.toContain('hidden_mail')
  })

  it('is limited and recorded like any call, and bad arguments say what is wrong', async () => {
    const bad = await host.thread(ann).call({ name: 'search_tools', arguments: {} })
    expect(bad).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    await host.thread(ann).call({ name: 'search_tools', arguments: { query: 'e-mail' } })
    await host.audit.flush()
    const { items } = await host.audit.list({ userId: 'ann' }, { ref: 'loadout.search_tools' })
    expect(items.map(({ outcome }) => outcome)).toContain('ok')
  })

  it('in an invocation finds what the invocation carries', async () => {
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' } })
    await using invocation = await host.setupToolkits(['mail'], { context })
    const selection = await invocation.resolve({ prompt: 'hello' })
    const outcome = await selection.call({ name: 'search_tools', arguments: { query: 'send issues' } })
    expect(JSON.stringify(outcome)).toContain('mail.send_mail')
    expect(JSON.stringify(outcome)).not.toContain('github.')
    expect(chosen(selection.next())).toContain('mail.send_mail')
  })
})

describe('what a thread loads', () => {
  it('stays until it is unloaded; what is not carried is refused or passed over', async () => {
    const thread = host.thread(ann)
    await thread.load(['mail.find_mail'], { sticky: true })
    await thread.load(['github.list_issues'])
    expect(chosen(await thread.resolve({ prompt: '' }))).toEqual([
      'clock.now',
      'mail.find_mail',
      'github.list_issues',
      'loadout.search_tools',
    ])
    await expect(thread.load(['nobody.knows'])).rejects.toMatchObject({ code: 'not-carried' })
    await thread.deactivate('mail')
    expect(chosen(await thread.resolve({ prompt: '' }))).not.toContain('mail.find_mail')
    await thread.unload()
    expect(await thread.loaded()).toEqual([])
    expect(events).toContainEqual({ type: 'tool-unloaded', ...ann, ref: 'github.list_issues' })
  })

  it('is bounded: the longest unused go first, what is kept stays', async () => {
    const thread = host.thread(ann)
    await thread.load(['mail.find_mail'], { sticky: true })
    for (let index = 0; index < 55; index++) await thread.load([`many.thing_${index}`])
    const loaded = (await thread.loaded()).map(({ ref }) => ref)
    expect(loaded).toHaveLength(50)
    expect(loaded).toContain('mail.find_mail')
    expect(loaded).toContain('many.thing_54')
    expect(loaded).not.toContain('many.thing_0')
  })

  it('is the thread’s and the user’s own', async () => {
    await host.thread(ann).load(['mail.find_mail'])
    expect(await host.thread({ userId: 'ann', threadId: 'other' }).loaded()).toEqual([])
    expect(await host.thread({ userId: 'bob', threadId: 'work' }).loaded()).toEqual([])
    await host.threads.create('ann', { id: 'work' }).catch(() => {})
    await host.threads.delete('ann', 'work')
    expect(await host.thread(ann).loaded()).toEqual([])
  })
})
