/** Log entries of calls with every kind of outcome. No secret is in the log. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programPath } from '../../../../../test/program-path.ts'
import { memoryJournal } from '../../audit/journal/journal.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { HostError } from '../../errors.ts'
import type { HostEvent } from '../../events.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { rule } from '../../policy/rules.ts'
import type { AuditView } from '../../schema/records/audit.ts'
import { defineTool } from '../../toolkits/define-tool.ts'

const FAULTY = programPath(fileURLToPath(new URL('../../../test/fixtures/fault-stdio.ts', import.meta.url)))
const owner = { tier: 'user', userId: 'ann' } as const
const caller = { type: 'direct' } as const
const everyone = { everyone: true } as const

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-audited-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tool = (name: string, execute: (input: never) => unknown, annotations: object = { readOnlyHint: true }) =>
  defineTool({ name, inputSchema: { type: 'object' }, annotations, execute } as never)

function hostWith(options: ServiceOptions = {}): HostServices {
  return createServices({
    tools: [
      tool('add', ({ a, b }: { a: number; b: number }) => a + b),
      tool('fail', () => {
        throw new Error('no')
      }),
      tool('break', () => {
        throw new HostError('server-timeout')
      }),
    ],
    ...options,
  })
}

const call = (host: HostServices, request: { tool: string; toolkit?: string; arguments?: Record<string, unknown> }) =>
  host.calls.start({ userId: 'ann', toolkit: 'app', arguments: {}, caller, ...request })

async function linesOf(host: HostServices, callId: string): Promise<AuditView[]> {
  return (await host.audit.list({ userId: 'ann' }, { callId })).items.reverse()
}

describe('the audit log of a call', () => {
  it('has an intent and an outcome entry with user, tool, reason and sizes', async () => {
    const host = hostWith()
    const { callId, outcome } = call(host, { tool: 'add', arguments: { a: 1, b: 2 } })
    expect((await outcome).status).toBe('ok')
    const lines = await linesOf(host, callId)
    const both = { userId: 'ann', action: 'mcp_tool_call', source: 'mcp:app', ref: 'app.add', callId }
    expect(lines).toMatchObject([
      {
        ...both,
        outcome: 'started',
        detail: {
          caller: 'direct',
          decision: 'allow',
          reason: expect.any(String),
          arguments: { a: 1, b: 2 },
          argumentSize: 13,
        },
      },
      { ...both, outcome: 'ok', detail: { durationMs: expect.any(Number), resultSize: expect.any(Number) } },
    ])
    expect(await host.audit.verify()).toMatchObject({ ok: true })
    await host.close()
  })

  it.each([
    { tool: 'fail', outcomes: ['started', 'tool-error'] },
    { tool: 'break', outcomes: ['started', 'failed'], errorCode: 'server-timeout' },
    { tool: 'none', outcomes: ['failed'], errorCode: 'tool-not-found' },
    { toolkit: 'none', tool: 'x', outcomes: ['failed'], errorCode: 'not-found' },
  ])('records $toolkit $tool as $outcomes', async ({ outcomes, errorCode, ...request }) => {
    const host = hostWith()
    const { callId, outcome } = call(host, request)
    await outcome
    const lines = await linesOf(host, callId)
    expect(lines.map((line) => line.outcome)).toEqual(outcomes)
    expect(lines.at(-1)?.detail.errorCode).toBe(errorCode)
    // A call that never reached its server has the intent fields in its only entry.
    if (outcomes.length === 1) expect(lines[0]?.detail).toMatchObject({ caller: 'direct', arguments: {} })
    await host.close()
  })

  it('has only a denied entry when the call was denied or its approval expired', async () => {
    const host = hostWith({ policy: [rule('app.add', 'deny'), rule('app.fail', 'ask')], approvalMs: 50 })
    for (const [name, code] of [
      ['add', 'denied'],
      ['fail', 'approval-expired'],
    ] as const) {
      const { callId, outcome } = call(host, { tool: name, arguments: { apiKey: 'k', a: 1 } })
      await outcome
      const lines = (await linesOf(host, callId)).filter(({ action }) => action === 'mcp_tool_call')
      expect(lines).toMatchObject([
        {
          outcome: 'denied',
          detail: { errorCode: code, decision: expect.any(String), arguments: { apiKey: '•••', a: 1 } },
        },
      ])
    }
    await host.close()
  })

  it('prevents the call when the intent entry cannot be written', async () => {
    let called = 0
    const journal = memoryJournal()
    let full = false
    const host = hostWith({
      tools: [tool('count', () => ++called)],
      audit: {
        journal: {
          ...journal,
          append(entry) {
            if (full) throw new HostError('audit-unavailable', { detail: 'The disk is full.' })
            return journal.append(entry)
          },
        },
      },
    })
    expect((await call(host, { tool: 'count' }).outcome).status).toBe('ok')
    full = true
    expect(await call(host, { tool: 'count' }).outcome).toMatchObject({
      status: 'failed',
      error: { code: 'audit-unavailable' },
    })
    expect(called).toBe(1)
    full = false
    expect((await call(host, { tool: 'count' }).outcome).status).toBe('ok')
    await host.close()
  })
})

describe('configuration changes in the audit log', () => {
  it('include toolkits, credential names, preferences and app settings', async () => {
    const host = hostWith()
    const kit = { name: 'Kit', url: 'https://example.com/mcp', headers: { 'X-Key': 's3cret-value' } }
    await host.toolkits.register(kit, owner)
    await host.toolkits.update('kit', { headers: {} }, owner)
    await host.toolkits.register({ name: 'All', url: 'https://example.com/all' }, { tier: 'app' })
    await host.toolkits.setEnabled('ann', 'all', false)
    await host.toolkits.remove('kit', owner)
    await host.preferences.update('ann', { theme: 'dark' })
    await host.app.update({ audit: { retentionDays: 30 } })
    const { items } = await host.audit.list(everyone)
    const entries = items.reverse().map(({ userId, action, source }) => `${userId} ${action} ${source}`.trim())
    expect(entries.filter((line) => !line.includes('mcp:app'))).toEqual([
      'ann toolkit_registered mcp:kit',
      'ann credential_set mcp:kit',
      'ann toolkit_updated mcp:kit',
      'ann credential_cleared mcp:kit',
      'toolkit_registered mcp:all',
      'ann toolkit_switched mcp:all',
      'ann toolkit_removed mcp:kit',
      'ann preferences_changed',
      'app_config_changed',
    ])
    const set = items.find(({ action }) => action === 'credential_set')
    expect(set?.detail).toMatchObject({ set: ['headers.X-Key'], cleared: [] })
    expect(JSON.stringify(items)).not.toContain('s3cret-value')
    await host.close()
  })
})

describe('planted secrets', () => {
  /** Thirty, each in a place of its own. */
  const secret = (place: string) => `planted-${place}-5ecret`
  const inEnv = Array.from({ length: 6 }, (_, i) => secret(`env${i}`))
  const inHeaders = Array.from({ length: 4 }, (_, i) => secret(`header${i}`))
  const byName = ['password', 'api_key', 'accessToken', 'client_secret', 'Authorization', 'cookie', 'sessionId', 'pwd']
  const bySchema = ['pin', 'phrase', 'nested', 'listed', 'branched']
  const inResult = Array.from({ length: 7 }, (_, i) => secret(`result${i}`))
  const all = [...inEnv, ...inHeaders, ...byName.map(secret), ...bySchema.map(secret), ...inResult]

  it(`in ${all.length} arguments, results, headers and env values do not reach log, events or errors`, async () => {
    const schema = {
      type: 'object',
      $defs: { hidden: { type: 'string', writeOnly: true } },
      properties: {
        pin: { $ref: '#/$defs/hidden' },
        phrase: { type: 'string', format: 'password' },
        deep: { type: 'object', properties: { nested: { type: 'string', writeOnly: true } } },
        list: { type: 'array', items: { type: 'string', format: 'password' } },
        any: { anyOf: [{ type: 'number' }, { type: 'string', writeOnly: true }] },
      },
    }
    const script = join(folder, 'leaky')
    const content = inResult.map((text) => ({ type: 'text', text }))
    const tools = [{ name: 'leak', inputSchema: schema, annotations: { readOnlyHint: true } }]
    writeFileSync(
      script,
      JSON.stringify({ tools, at: { 'tools/call': { do: 'result', result: { resultType: 'complete', content } } } }),
    )
    const dying = join(folder, 'dying')
    const death = { do: 'exit', code: 1, stderr: `${inEnv.join(' ')} was wrong` }
    writeFileSync(dying, JSON.stringify({ tools, at: { 'tools/call': death } }))

    const host = createServices({
      drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' }, guard: { privateNetwork: true } }),
    })
    const events: HostEvent[] = []
    host.events.on((event) => void events.push(event))
    const env = Object.fromEntries(inEnv.map((value, i) => [`TOKEN_${i}`, value]))
    const headers = Object.fromEntries(inHeaders.map((value, i) => [`X-${i}`, value]))
    const errors: unknown[] = []
    const args = {
      pin: secret('pin'),
      phrase: secret('phrase'),
      deep: { nested: secret('nested') },
      list: [secret('listed')],
      any: secret('branched'),
      ...Object.fromEntries(byName.map((name) => [name, secret(name)])),
      // A credential of the toolkit, sent as an argument.
      text: `run with ${inEnv.join(', ')}`,
    }
    await host.toolkits.register({ name: 'far', url: 'http://127.0.0.1:1/mcp', headers, tools }, owner)
    const far = await call(host, { toolkit: 'far', tool: 'leak', arguments: { query: inHeaders.join(' ') } }).outcome
    if ('error' in far) errors.push(far.error, far.error.message)
    for (const [name, file] of [
      ['leaky', script],
      ['dying', dying],
    ] as const) {
      const record = { name, command: process.execPath, args: [FAULTY, file], env }
      const { stored } = await host.toolkits.register(record, owner)
      await host.catalog.introspect(stored, 'ann')
      const outcome = await call(host, { toolkit: name, tool: 'leak', arguments: args }).outcome
      if ('error' in outcome) errors.push(outcome.error, outcome.error.message, outcome.error.action)
      else expect(JSON.stringify(outcome)).toContain(inResult[0])
    }
    expect(errors.length).toBeGreaterThan(2)

    let log = ''
    for (const format of ['csv', 'jsonl'] as const)
      for await (const piece of host.audit.export(everyone, format)) log += piece
    expect(log).toContain('"outcome":"started"')
    expect(log).toContain('run with')
    for (const value of all) {
      expect(log).not.toContain(value)
      expect(JSON.stringify(events)).not.toContain(value)
      expect(JSON.stringify(errors)).not.toContain(value)
    }
    // And the check finds what it is for.
    expect(all).toHaveLength(30)
    expect(JSON.stringify(args)).toContain(all[0])
    await host.close()
  })
})
