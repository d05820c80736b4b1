import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { selectPath } from './json-path.ts'

let host: Host
let give: () => unknown = () => ''
beforeEach(async () => {
  host = createHost({ policy: [rule('*', 'allow')] })
  const tool = { name: 'big', inputSchema: { type: 'object' }, execute: () => give() }
  await host.toolkits.register({ name: 'kit', tools: [tool] }, { tier: 'user', userId: 'ann' })
})
afterEach(() => host.close())
const call = async () => {
  const outcome = await host.calls.start({
    userId: 'ann',
    toolkit: 'kit',
    tool: 'big',
    arguments: {},
    caller: { type: 'direct' },
  }).outcome
  if ('error' in outcome) throw outcome.error
  return outcome
}

describe('a result that is too large', () => {
  it('50 MB: a preview under 2 KB, bounded memory, pages and lines that are right', async () => {
    const line = (index: number) => `line ${index} ${'x'.repeat(90)}`
    const lines = Array.from({ length: 500_000 }, (_, index) => line(index + 1))
    const text = lines.join('\n')
    expect(text.length).toBeGreaterThan(50_000_000)
    give = () => text
    const before = process.memoryUsage().rss
    const outcome = await call()
    const [block] = outcome.content as Array<{ text: string }>
    expect(new TextEncoder().encode(block?.text).length).toBeLessThan(2048)
    expect(block?.text).toContain('line 1 ')
    expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000)
    const id = outcome.resultHandle ?? ''
    const read = (part: object) => host.results.read('ann', id, part)
    for (const offset of [0, 262_000, 262_144, 30_000_000]) {
      const page = await read({ offset, limit: 5000 })
      expect(page.text).toBe(text.slice(offset, offset + 5000))
      expect(page.nextOffset).toBe(offset + 5000)
    }
    expect((await read({ offset: text.length - 10 })).nextOffset).toBeUndefined()
    for (const fromLine of [1, 2500, 250_000, 499_999]) {
      const page = await read({ fromLine, lines: 3 })
      expect(page.text).toBe(lines.slice(fromLine - 1, fromLine + 2).join('\n'))
      expect(page.nextLine).toBe(fromLine + 3 <= 500_000 ? fromLine + 3 : undefined)
    }
    await expect(host.results.read('bob', id)).rejects.toMatchObject({ code: 'not-found' })
  }, 60_000)

  it('JSON by a path; what is small goes on as it is', async () => {
    give = () => ({
      items: Array.from({ length: 5000 }, (_, id) => ({ id, name: `item ${id}`, note: 'y'.repeat(30) })),
    })
    const { resultHandle = '' } = await call()
    expect((await host.results.read('ann', resultHandle, { path: '$.items[4999].name' })).text).toBe('"item 4999"')
    expect(JSON.parse((await host.results.read('ann', resultHandle, { path: '$.items[0:3].id' })).text)).toEqual([
      0, 1, 2,
    ])
    await expect(host.results.read('ann', resultHandle, { path: '$.nothing' })).rejects.toMatchObject({
      errors: [{ path: 'path' }],
    })
    const more = { name: 'read_result', arguments: { handle: resultHandle, path: '$.items[7].id' } }
    const thread = (userId: string) => host.thread({ userId, threadId: 't' })
    expect(await thread('ann').call(more)).toMatchObject({ status: 'ok', content: [{ text: '7' }] })
    expect(await thread('bob').call(more)).toMatchObject({ status: 'failed', error: { code: 'not-found' } })
    expect(await thread('ann').call({ name: 'read_result', arguments: {} })).toMatchObject({
      error: { code: 'invalid-input' },
    })
    give = () => 'small'
    expect(await call()).toEqual({ status: 'ok', content: [{ type: 'text', text: 'small' }] })
  })
})

describe('paths', () => {
  const text = JSON.stringify({ a: { 'b c': [1, { d: null }] }, list: [{ x: 1 }, { x: 2 }, { y: 3 }] })
  it.each([
    ['$', JSON.parse(text)],
    ['$.a["b c"][0]', 1],
    ["$.a['b c'][-1].d", null],
    ['$.list[*].x', [1, 2]],
    ['$.list[1:]', [{ x: 2 }, { y: 3 }]],
    ['list[0].x', 1],
    ['$.a.*', [[1, { d: null }]]],
  ])('%s', (path, expected) => expect(JSON.parse(selectPath(text, path))).toEqual(expected))
  it.each(['$..x', '$.list[?(@.x)]', '$.a[', '$.missing', '$.__proto__', `$${'.a'.repeat(60)}`])(
    '%s is refused',
    (path) => {
      expect(() => selectPath(text, path)).toThrow(expect.objectContaining({ code: 'invalid-input' }))
    },
  )
})
