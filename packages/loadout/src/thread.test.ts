/** Threads over a host whose tools are functions of its own: what a thread carries, why, and that calls keep to it. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServices, type HostServices } from './host/create-services.ts'
import { describe as describedAs, filter, prefix, providerOptions, tighten } from './loadout/transform/transformers.ts'
import { rule } from './policy/rules.ts'
import type { PresentedTool } from './schema/toolkit/tool.ts'
import { defineTool } from './toolkits/define-tool.ts'

const ann = { userId: 'ann', threadId: 'jobs' }
const tool = (name: string, annotations = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations,
  execute: (input: { text?: string }) => `${name}: ${input.text ?? ''}`,
})
const github = {
  name: 'github',
  tools: [
    tool('list_issues', { readOnlyHint: true }),
    tool('create_issue'),
    tool('delete_repo', { destructiveHint: true }),
  ],
}
const linkedin = { name: 'linkedin', tools: [tool('search_jobs', { readOnlyHint: true }), tool('apply')] }

let host: HostServices
beforeEach(async () => {
  host = createServices({
    policy: [rule('*', 'allow')],
    tools: [defineTool({ name: 'now', inputSchema: z.object({}), execute: () => 'noon' })],
  })
  await register(github)
  await register(linkedin)
})
afterEach(() => host.close())

async function register(
  input: object,
  owner: Parameters<HostServices['toolkits']['register']>[1] = { tier: 'user', userId: 'ann' },
  options = {},
) {
  const { stored } = await host.toolkits.register(input, owner, options)
  await host.catalog.introspect(stored, 'ann')
  return stored
}
const refs = async (thread = host.thread(ann)) => (await thread.loadout()).tools.map(({ ref }) => ref)

describe('the loadout of a thread', () => {
  it('contains every tool of its user and the functions of the app by default', async () => {
    expect(await refs()).toEqual([
      'github.list_issues',
      'github.create_issue',
      'github.delete_repo',
      'linkedin.search_jobs',
      'linkedin.apply',
      'app.now',
    ])
  })

  it('follows activate, deactivate, use and reset, and emits events for changed tools', async () => {
    const thread = host.thread(ann)
    const reported: string[] = []
    host.events.on((event) => {
      const isTool = event.type === 'tool-loaded' || event.type === 'tool-unloaded'
      if (isTool && event.threadId === 'jobs') reported.push(`${event.type} ${event.ref}`)
    })
    await thread.deactivate('github.delete_repo')
    expect(await refs()).not.toContain('github.delete_repo')
    await thread.use(['linkedin'])
    expect(await refs()).toEqual(['linkedin.search_jobs', 'linkedin.apply'])
    await thread.activate('github.*_issue*')
    expect(await refs()).toEqual([
      'github.list_issues',
      'github.create_issue',
      'linkedin.search_jobs',
      'linkedin.apply',
    ])
    await thread.reset()
    expect(await refs()).toContain('github.delete_repo')
    expect(reported.slice(0, 3)).toEqual([
      'tool-unloaded github.delete_repo',
      'tool-unloaded github.list_issues',
      'tool-unloaded github.create_issue',
    ])
    expect(reported).toContain('tool-loaded github.delete_repo')
  })

  it('rejects activation of an unknown tool and lists the known ones', async () => {
    const thread = host.thread(ann)
    await expect(thread.activate('gitlab')).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'ref', message: '"gitlab" names no toolkit of yours; there are github, linkedin, app' }],
    })
    await expect(thread.activate('github.delete')).rejects.toThrow(/github\.list_issues, github\.create_issue/)
    await expect(thread.deactivate('github.delete_rep')).rejects.toMatchObject({ code: 'invalid-input' })
    await expect(thread.use(['linkedin', 'nope'])).rejects.toMatchObject({ errors: [{ path: 'toolkits.1' }] })
    await expect(thread.activate('a b')).rejects.toMatchObject({ code: 'invalid-input' })
    // What forbids may come before what it forbids.
    await thread.deactivate('*.drop_*')
  })

  it('is narrowed per call by only, except, maxTools and maxTokens', async () => {
    const thread = host.thread(ann)
    const only = await thread.loadout({ only: ['github'], except: ['*.delete_*'] })
    expect(only.tools.map(({ ref }) => ref)).toEqual(['github.list_issues', 'github.create_issue'])
    expect((await thread.loadout({ maxTools: 1 })).tools).toHaveLength(1)
    const [first] = (await thread.loadout()).tools
    expect((await thread.loadout({ maxTokens: first?.tokens ?? 0 })).tools).toHaveLength(1)
  })

  it('applies thread limits to one thread and user limits to every thread', async () => {
    await host.threads.create('ann', { id: 'small', settings: { limits: { maxTools: 2 } } })
    expect(await refs(host.thread({ userId: 'ann', threadId: 'small' }))).toHaveLength(2)
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    const { tools, droppedToolkits } = await host.thread(ann).loadout()
    expect(new Set(tools.map(({ toolkit }) => toolkit))).toEqual(new Set(['github']))
    expect(droppedToolkits).toEqual(['linkedin', 'app'])
    await host.thread(ann).activate('linkedin')
    expect(new Set((await host.thread(ann).loadout()).tools.map(({ toolkit }) => toolkit))).toEqual(
      new Set(['linkedin']),
    )
  })

  it('explains why each tool is available or not', async () => {
    const thread = host.thread(ann)
    await host.activations.set({}, [{ ref: '*.delete_*', on: false }])
    await thread.use(['github'])
    const items = await thread.explain()
    const why = (ref: string) => items.find((item) => item.ref === ref)
    expect(why('github.list_issues')).toMatchObject({
      included: true,
      modelName: 'mcp_github_list_issues',
      tier: 'user',
      reasons: [
        { kind: 'tier', tier: 'user', speaks: 'for' },
        { kind: 'activation', tier: 'thread', speaks: 'for', detail: 'Switched on at the thread tier by "github".' },
        {
          kind: 'policy',
          tier: 'app',
          speaks: 'for',
          detail: 'It may be called. The rule "*" of the app tier says allow.',
        },
      ],
    })
    expect(why('github.delete_repo')?.included).toBe(false)
    expect(why('github.delete_repo')?.reasons).toContainEqual({
      kind: 'activation',
      tier: 'app',
      speaks: 'against',
      detail: 'Switched off at the app tier by "*.delete_*".',
    })
    expect(why('linkedin.apply')?.reasons.at(-1)?.detail).toBe('It is not in the list of the thread.')
  })

  it('limits the number of glob patterns in activations', async () => {
    const thread = host.thread(ann)
    const globs = Array.from({ length: 51 }, (_, index) => `*.never_${index}*`)
    await expect(thread.deactivate(...globs)).rejects.toMatchObject({ code: 'invalid-input' })
    expect(await thread.activations()).toEqual([])
    await thread.deactivate(...globs.slice(1))
    expect(await thread.activations()).toHaveLength(50)
  })

  it('does not recreate a deleted thread on a late change', async () => {
    await host.threads.create('ann', { id: 'gone' })
    const late = host.thread({ userId: 'ann', threadId: 'gone' }, { mustExist: true })
    await host.threads.delete('ann', 'gone')
    await expect(late.deactivate('github')).rejects.toMatchObject({ code: 'not-found' })
    await expect(host.threads.get('ann', 'gone')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('loses its grants and rules with the thread, so a new thread with the same id has none', async () => {
    await using asking = createServices({ storage: host.storage })
    const ask = () =>
      asking.calls.start({
        ...ann,
        toolkit: 'github',
        tool: 'delete_repo',
        arguments: {},
        caller: { type: 'direct' as const },
        signal: AbortSignal.timeout(2000),
      })
    await asking.threads.create('ann', { id: 'jobs' })
    await asking.rules.set(ann, [{ pattern: 'linkedin.apply', decision: 'deny' }])
    await asking.rules.set({ userId: 'ann' }, [{ pattern: 'linkedin.apply', decision: 'ask' }])
    const first = ask()
    await asking.approvals.answer('ann', (await first.pending).id, { decision: 'allow', remember: 'thread' })
    await first.outcome
    const reported: string[] = []
    asking.events.on((event) => void reported.push(event.type))
    await asking.threads.delete('ann', 'jobs')
    expect(reported).toEqual(['grant-revoked', 'policy-changed', 'thread-changed'])
    await asking.threads.create('ann', { id: 'jobs' })
    expect(await asking.grants.list('ann')).toEqual([])
    expect([await asking.rules.list(ann), await asking.rules.list({ userId: 'ann' })]).toMatchObject([[], [{}]])
    expect(await ask().pending).toMatchObject({ ref: 'github.delete_repo' })
  })

  it('is isolated between threads and users with the same ids', async () => {
    await register(github, { tier: 'user', userId: 'bob' })
    await host.thread(ann).use(['linkedin'])
    expect(await refs(host.thread({ userId: 'bob', threadId: 'jobs' }))).toContain('github.delete_repo')
    expect(await refs(host.thread({ userId: 'ann', threadId: 'other' }))).toContain('github.delete_repo')
    expect(await host.thread({ userId: 'bob', threadId: 'jobs' }).activations()).toEqual([])
    await expect(host.threads.get('bob', 'jobs')).rejects.toMatchObject({ code: 'not-found' })
    await host.threads.delete('ann', 'jobs')
    expect(await host.thread(ann).activations()).toEqual([])
  })

  it('omits tools that the toolkit record excludes or turns off, and applies its overrides', async () => {
    await register({ ...github, include: ['*issue*'], exclude: ['create_*'] })
    expect(await refs()).toEqual(['github.list_issues', 'linkedin.search_jobs', 'linkedin.apply', 'app.now'])
    await register({
      ...github,
      overrides: { delete_repo: { enabled: false }, list_issues: { name: 'issues', title: 'Issues' } },
    })
    const { tools } = await host.thread(ann).loadout()
    expect(tools.map(({ ref, modelName }) => [ref, modelName]).slice(0, 2)).toEqual([
      ['github.list_issues', 'mcp_github_issues'],
      ['github.create_issue', 'mcp_github_create_issue'],
    ])
    expect(tools[0]?.manifest).toMatchObject({ name: 'issues', title: 'Issues' })
  })
})

describe('the allowed callers of a tool', () => {
  it('come from the override, then the definition, then the toolkit, for listing and calls', async () => {
    const [list, create, remove] = github.tools
    await register({
      name: 'github',
      allowedCallers: ['direct'],
      tools: [{ ...list, allowedCallers: ['code'] }, { ...create, allowed_callers: ['code', 'direct'] }, remove],
      overrides: { delete_repo: { allowedCallers: ['code'], deferLoading: false } },
    })
    const thread = host.thread(ann)
    const { tools } = await thread.loadout({ only: ['github'] })
    expect(tools.map(({ tool: name, allowedCallers, deferred }) => [name, allowedCallers, deferred])).toEqual([
      ['list_issues', ['code'], true],
      ['create_issue', ['code', 'direct'], true],
      ['delete_repo', ['code'], false],
    ])
    const call = (name: string, type: 'direct' | 'code') => thread.call({ name, arguments: {}, caller: { type } })
    for (const name of ['github.list_issues', 'github.delete_repo']) {
      expect(await call(name, 'direct')).toMatchObject({ status: 'denied', error: { code: 'not-carried' } })
      expect(await call(name, 'code')).toMatchObject({ status: 'ok' })
    }
    for (const type of ['direct', 'code'] as const)
      expect(await call('github.create_issue', type)).toMatchObject({ status: 'ok' })
    const selection = await thread.select({ prompt: 'list issues, delete the repo', narrow: { only: ['github'] } })
    expect(selection.tools.map(({ entry }) => entry.ref)).toEqual(['github.create_issue', 'loadout.read_result'])
  })
})

describe('calls within the loadout', () => {
  const call = (name: string, threadId = 'jobs', text = 'x') =>
    host.thread({ userId: 'ann', threadId }).call({ name, arguments: { text } })

  it('accept the model name or the ref of a tool', async () => {
    expect(await call('mcp_github_list_issues')).toMatchObject({ status: 'ok', content: [{ text: 'list_issues: x' }] })
    expect(await call('linkedin.apply')).toMatchObject({ status: 'ok', content: [{ text: 'apply: x' }] })
    expect(await call('mcp_github_nothing')).toMatchObject({
      status: 'failed',
      error: { code: 'tool-not-found', message: expect.stringContaining('mcp_github_list_issues') },
    })
  })

  it('are denied with the reason when the tool is off, with or without a thread', async () => {
    await host.thread(ann).deactivate('github.delete_repo')
    const denied = { status: 'denied', error: { code: 'not-carried', status: 403 } }
    expect(await call('github.delete_repo')).toMatchObject(denied)
    const direct = {
      userId: 'ann',
      toolkit: 'github',
      tool: 'delete_repo',
      arguments: {},
      caller: { type: 'direct' as const },
    }
    expect(await host.calls.start({ ...direct, threadId: 'jobs' }).outcome).toMatchObject(denied)
    expect(await host.calls.start(direct).outcome).toMatchObject({ status: 'ok' })
    await host.activations.set({}, [{ ref: 'github.delete_repo', on: false }])
    const outcome = await host.calls.start(direct).outcome
    expect(outcome).toMatchObject(denied)
    expect('error' in outcome && outcome.error.message).toContain('Switched off at the app tier')
  })

  it('are denied for callers that the toolkit does not allow', async () => {
    await register({ ...github, allowedCallers: ['direct'] })
    const asCode = { name: 'github.list_issues', arguments: {}, caller: { type: 'code' as const } }
    expect(await host.thread(ann).call(asCode)).toMatchObject({ status: 'denied', error: { code: 'not-carried' } })
    expect(await host.thread(ann).call({ ...asCode, caller: { type: 'direct' } })).toMatchObject({ status: 'ok' })
  })

  it('are denied for a toolkit beyond the limit of the thread', async () => {
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    expect(await call('github.list_issues')).toMatchObject({ status: 'ok' })
    expect(await call('linkedin.apply')).toMatchObject({ status: 'denied' })
    const direct = {
      userId: 'ann',
      toolkit: 'linkedin',
      tool: 'apply',
      arguments: {},
      caller: { type: 'direct' as const },
    }
    expect(await host.calls.start({ ...direct, threadId: 'jobs' }).outcome).toMatchObject({ status: 'denied' })
    expect(await host.calls.start(direct).outcome).toMatchObject({ status: 'ok' })
  })
})

describe('transformers', () => {
  it('prefix, describe, filter, add provider options and tighten annotations in order per toolkit', async () => {
    const transform = [
      filter({ exclude: ['delete_*'] }),
      prefix('gh_'),
      describedAs('[GitHub]'),
      providerOptions({ openai: { strict: true } }),
      tighten({ destructiveHint: true, readOnlyHint: false }),
    ]
    await register(github, { tier: 'user', userId: 'ann' }, { transform })
    const { tools, entries } = await host.thread(ann).loadout()
    expect(tools.find(({ ref }) => ref === 'github.list_issues')).toMatchObject({
      modelName: 'mcp_github_gh_list_issues',
      tool: 'list_issues',
      providerOptions: { openai: { strict: true } },
      manifest: {
        name: 'gh_list_issues',
        description: '[GitHub] Does list_issues.',
        annotations: { readOnlyHint: false, destructiveHint: true },
      },
    })
    expect(entries.find(({ ref }) => ref === 'github.delete_repo')?.reasons.at(-1)?.detail).toBe(
      'The transformer "filter" left it out.',
    )
    expect(await host.thread(ann).call({ name: 'mcp_github_gh_list_issues', arguments: {} })).toMatchObject({
      status: 'ok',
    })
  })

  it('apply per thread and per call and can filter by annotation', async () => {
    const careful = host.thread(ann, { transform: [filter({ annotations: { readOnlyHint: true } })] })
    expect(await refs(careful)).toEqual(['github.list_issues', 'linkedin.search_jobs'])
    const { tools } = await careful.loadout({ transform: [prefix('x_'), filter({ include: ['x_search*'] })] })
    expect(tools.map(({ modelName }) => modelName)).toEqual(['mcp_linkedin_x_search_jobs'])
    expect(await careful.call({ name: 'github.create_issue', arguments: {} })).toMatchObject({ status: 'denied' })
    expect(await refs()).toHaveLength(6)
  })

  it('drop only the affected tool and report it when they throw, return nonsense or mutate it', async () => {
    const bad = host.thread(ann, {
      transform: [
        function breaks(shown, { ref }) {
          if (ref === 'github.create_issue') throw new Error('no thanks')
          if (ref === 'github.list_issues') return { nonsense: true } as never
          if (ref === 'linkedin.apply') Object.assign(shown.inputSchema, { type: 'evil' })
          return shown
        },
      ],
    })
    const { entries, tools } = await bad.loadout()
    expect(tools.map(({ ref }) => ref)).toEqual(['github.delete_repo', 'linkedin.search_jobs', 'app.now'])
    const why = (ref: string) => entries.find((entry) => entry.ref === ref)?.reasons.at(-1)
    expect(why('github.create_issue')).toMatchObject({
      kind: 'transform',
      tier: 'thread',
      detail: 'The transformer "breaks" failed on it: no thanks',
    })
    expect(why('linkedin.apply')?.detail).toContain('read only')
    expect(
      (await host.thread(ann).loadout()).tools.find(({ ref }) => ref === 'linkedin.apply')?.manifest.inputSchema.type,
    ).toBe('object')
  })

  it('keep model names unique and never take the original name of another tool', async () => {
    const same = [(shown: PresentedTool) => ({ ...shown, name: 'same' })]
    const { tools } = await host.thread(ann).loadout({ only: ['github'], transform: same })
    expect(new Set(tools.map(({ modelName }) => modelName)).size).toBe(3)
    await register({ ...github, overrides: { create_issue: { name: 'list_issues' } } })
    const named = (await host.thread(ann).loadout()).tools.map(({ ref, modelName }) => [ref, modelName])
    expect(named).toContainEqual(['github.list_issues', 'mcp_github_list_issues'])
    expect(named).toContainEqual([
      'github.create_issue',
      expect.stringMatching(/^mcp_github_list_issues_[0-9a-f]{16}$/),
    ])
  })

  it('never relax the annotations of a server', async () => {
    const loose = host.thread(ann, {
      transform: [(shown) => ({ ...shown, annotations: { readOnlyHint: true, destructiveHint: false } })],
    })
    const { tools } = await loose.loadout()
    const annotations = (ref: string) => tools.find((one) => one.ref === ref)?.manifest.annotations
    expect(annotations('github.delete_repo')).toEqual({ destructiveHint: true })
    expect(annotations('github.list_issues')).toEqual({ readOnlyHint: true })
  })
})
