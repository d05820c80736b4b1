/** One tool as a program sees it, told to people: the same text that `describe` gives there, and why no program can call it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sharedExecutor } from '../../../test/fixtures/shared-executor.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const inputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
const tool = (name: string) => ({
  name,
  description: `Does ${name}.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true },
  execute: () => ({ sum: 1 }),
})

const executor = sharedExecutor()
let host: HostServices
beforeEach(async () => {
  host = createServices({ executor, policy: [rule('*', 'allow')] })
  await host.toolkits.register({ name: 'sums', tools: [tool('get-sum'), tool('add')] }, ann)
  await host.toolkits.register({ name: 'by hand', tools: [tool('sign')], allowedCallers: ['direct'] }, ann)
})
afterEach(() => host.close())
const declarationOf = (ref: string) => host.declaration({ userId: 'ann' }, ref)

describe('a tool declaration', () => {
  it('matches the text and the name that programs use', async () => {
    const { text, name, uncallable } = await declarationOf('sums.get-sum')
    expect([name, uncallable]).toEqual(['sums["get-sum"]', undefined])
    expect(text).toContain('"get-sum"(input: { a: number')
    expect(text).toContain('Promise<{ sum: number')
    const run = await host.thread({ userId: 'ann', threadId: 't' }).run({
      program: 'return [await describe("sums.get-sum"), await sums["get-sum"]({ a: 1 })]',
    })
    expect(run.output).toEqual([text, { sum: 1 }])
  })

  it('reports why no program can call the tool', async () => {
    expect((await declarationOf('by-hand.sign')).uncallable).toMatch(/no programs/)
    await host.activations.set({ userId: 'ann' }, [{ ref: 'sums.add', on: false }])
    const off = await declarationOf('sums.add')
    expect(off.uncallable).toContain('Switched off at the user tier by "sums.add"')
    expect(off.text).toContain('add(input: { a: number')
    await using without = createServices()
    await without.toolkits.register({ name: 'sums', tools: [tool('add')] }, ann)
    expect((await without.declaration({ userId: 'ann' }, 'sums.add')).uncallable).toBe('This host runs no programs.')
  })

  it('is not-found for unknown tools and tools of other users', async () => {
    await expect(declarationOf('sums.none')).rejects.toMatchObject({ code: 'not-found' })
    await expect(host.declaration({ userId: 'bob' }, 'sums.add')).rejects.toMatchObject({ code: 'not-found' })
  })
})
