/** Mistakes that a new user of the library makes, and the answers they get. */
import { describe, expect, it } from 'vitest'
import { toAnthropic } from '../src/ai/anthropic/anthropic.ts'
import { createHost, defineTool, HostError, rule } from '../src/index.ts'

describe('an error', () => {
  it('keeps its message in JSON, without its cause', async () => {
    await using host = createHost({
      policy: [rule('*', 'deny')],
      toolkits: { tools: [defineTool({ name: 'go', execute: () => 1 })] },
    })
    const outcome = await host.user('ann').call('app.go', {})
    expect(JSON.parse(JSON.stringify(outcome))).toMatchObject({
      status: 'denied',
      error: { code: 'denied', message: expect.stringContaining('app.go'), action: expect.any(String), status: 403 },
    })
    const secret = new HostError('internal', { cause: new Error('secret detail') })
    expect(JSON.stringify(secret)).not.toContain('secret detail')
  })
})

describe('a wrong argument', () => {
  it('of toAnthropic names the searches that exist', async () => {
    await using host = createHost()
    const selection = await host.user('ann').thread('t').select({ prompt: 'x' })
    expect(() => toAnthropic(selection, { search: 'fuzzy' as never })).toThrow('The search `fuzzy` is not known.')
  })

  it('as a user id is refused where it is given', () => {
    const host = createHost()
    for (const id of ['', undefined as never])
      expect(() => host.user(id)).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })

  it('with the servers of a whole config points to the import', async () => {
    await using host = createHost()
    const config = { mcpServers: { files: { command: 'npx' } } }
    await expect(host.user('ann').toolkits.add(config as never)).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'mcpServers', message: expect.stringContaining('import') }],
    })
  })
})
