import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { provenGrowth } from '../../../../../test/prove/work.ts'
import { createExecutionContext } from '../../context.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import { selectPath } from './json-path.ts'

/** Reference implementation of one path step. */
const oneStep = (value: unknown, step: string | number): unknown => {
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined
}

let host: HostServices
let give: () => unknown = () => ''
beforeEach(async () => {
  host = createServices({ policy: [rule('*', 'allow')] })
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

describe('an oversized result', () => {
  it('of 50 MB has a preview under 2 KB, bounded memory and exact pages and lines', async () => {
    const line = (index: number) => `line ${index} ${'x'.repeat(90)}`
    const lines = Array.from({ length: 500_000 }, (_, index) => line(index + 1))
    const text = lines.join('\n')
    expect(text.length).toBeGreaterThan(50_000_000)
    give = () => text
    const outcome = await provenGrowth(600_000_000, call)
    const [block] = outcome.content as Array<{ text: string }>
    expect(new TextEncoder().encode(block?.text).length).toBeLessThan(2048)
    expect(block?.text).toContain('line 1 ')
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
  })

  it('is read by JSON path, while a small result is returned unchanged', async () => {
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

describe('result lines longer than a chunk', () => {
  const keep = async (text: string) => {
    give = () => text
    const { resultHandle = '' } = await call()
    return (part: object) => host.results.read('ann', resultHandle, part)
  }

  it('return the first part and the next offset of a 786 KB line', async () => {
    const text = `${'x'.repeat(786_432)}the end!\n`
    const read = await keep(text)
    const first = await read({ fromLine: 1 })
    expect([first.text, first.nextOffset]).toEqual([text.slice(0, 100_000), 100_000])
    expect(await read({ fromLine: 2 })).toMatchObject({ text: '' })
    expect((await read({ offset: 700_000, limit: 100_000 })).text).toBe(text.slice(700_000))
  })

  it('are complete across chunk boundaries, and so are their characters', async () => {
    const line = (length: number, word: string) => `${word}${'é'.repeat(length)}`
    const lines = [line(262_100, 'one'), line(90, 'two'), line(300_000, 'three'), line(10, 'four')]
    const read = await keep(lines.join('\n'))
    expect((await read({ fromLine: 2, lines: 1 })).text).toBe(lines[1])
    expect((await read({ fromLine: 3, lines: 1 })).text).toBe(lines[2]?.slice(0, 100_000))
    expect(await read({ fromLine: 4, lines: 5 })).toMatchObject({ text: lines[3] })
    const emoji = `${'y'.repeat(262_143)}😀${'z'.repeat(262_140)}😀😀end`
    const pages = await keep(emoji)
    expect((await pages({ offset: 262_140, limit: 10 })).text).toBe(emoji.slice(262_140, 262_150))
    expect((await pages({ offset: 524_280, limit: 100 })).text).toBe(emoji.slice(524_280))
    expect(await pages({ offset: 262_140, limit: 4 })).toMatchObject({ text: 'yyy', nextOffset: 262_143 })
  })
})

describe('stored result content', () => {
  const rows = Array.from({ length: 4000 }, (_, id) => ({ id, name: `row ${id}`, note: 'n'.repeat(20) }))
  const store = async (result: object) => {
    give = () => result
    const { resultHandle = '', content } = await call()
    const preview = (content as Array<{ text: string }>)[0]?.text ?? ''
    expect(new TextEncoder().encode(preview).length).toBeLessThan(2048)
    return { preview, read: (part: object) => host.results.read('ann', resultHandle, part) }
  }

  it('includes a short text and large structured content', async () => {
    const content = [{ type: 'text', text: '3 rows' }]
    const { preview, read } = await store({ content, structuredContent: { rows } })
    expect(preview).toContain('3 rows')
    expect(preview).toContain('text from line 1, offset 0, 6 characters; structuredContent from line 2, offset 7')
    expect((await read({ fromLine: 1, lines: 1 })).text).toBe('3 rows')
    expect((await read({ path: '$.rows[3999].name' })).text).toBe('"row 3999"')
    const { sections = [], characters } = await read({})
    expect(sections.map(({ what }) => what)).toEqual(['text', 'structuredContent'])
    let json = ''
    for (let at = 7; at < characters; at += 100_000) json += (await read({ offset: at, limit: 100_000 })).text
    expect(JSON.parse(json)).toEqual({ rows })
  })

  it('includes several texts, an image and a resource with structured content', async () => {
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
    const resource = { type: 'resource', resource: { uri: 'file:///a', text: 'r'.repeat(100) } }
    const annotated = { type: 'text', text: 'for you', annotations: { audience: ['user'] } }
    const content = [{ type: 'text', text: 'one\ntwo' }, image, { type: 'text', text: 'three' }, resource, annotated]
    const { preview, read } = await store({ content, structuredContent: { rows } })
    expect(preview).toContain('and 2 more between')
    expect(preview).toContain('structuredContent from line')
    const { sections = [] } = await read({})
    const texts = await Promise.all(
      sections.slice(0, 5).map((one) => read({ offset: one.firstCharacter, limit: one.characters })),
    )
    const back = texts.map(({ text }, index) => (sections[index]?.isJson ? JSON.parse(text) : text))
    expect(back).toEqual(['one\ntwo', image, 'three', resource, annotated])
    for (const { firstLine, lines, isJson } of sections.slice(0, 5))
      expect((await read({ fromLine: firstLine, lines })).text.includes('{')).toBe(isJson)
    expect((await read({ path: '$.rows[0].id' })).text).toBe('0')
  })

  it('stores duplicated content once and still supports paths into it', async () => {
    const json = JSON.stringify({ rows })
    const twice = await store({ content: [{ type: 'text', text: json }], structuredContent: { rows } })
    expect((await twice.read({})).characters).toBe(json.length)
    expect((await twice.read({ path: '$.rows[1].id' })).text).toBe('1')
    const long = 'line\n'.repeat(40_000)
    const wrapped = await store({ content: [{ type: 'text', text: long }], structuredContent: { content: long } })
    expect((await wrapped.read({})).characters).toBe(long.length)
    expect(wrapped.preview).toContain('text (also $.content) from line 1')
    expect((await wrapped.read({ path: '$.content', limit: 8 })).text).toBe('"line\\nl')
    expect((await wrapped.read({ fromLine: 3, lines: 2 })).text).toBe('line\nline')
  })

  it('combines thousands of blocks into a list', async () => {
    const content = Array.from({ length: 5000 }, (_, index) => ({
      type: 'text',
      text: `block ${index} ${'b'.repeat(20)}`,
    }))
    const { read } = await store({ content })
    const { sections = [] } = await read({})
    expect(sections).toHaveLength(21)
    expect((await read({ path: '$[4979].text' })).text).toContain('block 4999')
  })
})

describe('read_result', () => {
  const names = (loadout: { tools: ReadonlyArray<{ modelName: string }> }) =>
    loadout.tools.map((tool) => tool.modelName)
  const thread = () => host.thread({ userId: 'ann', threadId: 't' })
  const read = (handle = '') => ({ name: 'read_result', arguments: { handle, fromLine: 2, lines: 1, path: null } })

  it('is available to a model only after a large result is stored', async () => {
    give = () => 'one\ntwo\n'.repeat(20_000)
    expect(names(await thread().loadout())).toEqual(['mcp_kit_big'])
    const outcome = await thread().call({ name: 'mcp_kit_big', arguments: {} })
    const { resultHandle } = outcome as { resultHandle?: string }
    const loadout = await thread().loadout({ only: ['kit'], maxTools: 1 })
    expect(names(loadout)).toEqual(['mcp_kit_big', 'read_result'])
    expect(loadout.tools[1]).toMatchObject({
      ref: 'loadout.read_result',
      manifest: { annotations: { readOnlyHint: true } },
    })
    expect(names(await host.thread({ userId: 'bob', threadId: 't' }).loadout())).toEqual([])
    expect(await thread().explain()).toContainEqual(
      expect.objectContaining({ ref: 'loadout.read_result', included: true }),
    )
    expect(await thread().call(read(resultHandle))).toMatchObject({ status: 'ok', content: [{ text: 'two' }] })
  })

  it('is available in a run after the call that stored a result', async () => {
    give = () => 'one\ntwo\n'.repeat(20_000)
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, runId: 'r' })
    await using run = await host.setupToolkits(['kit'], { context })
    expect(names(run.loadout)).toEqual(['mcp_kit_big'])
    const outcome = await run.call({ name: 'kit.big', arguments: {} })
    expect(names(run.loadout)).toEqual(['mcp_kit_big', 'read_result'])
    const { resultHandle } = outcome as { resultHandle?: string }
    expect(await run.call(read(resultHandle))).toMatchObject({ status: 'ok', content: [{ text: 'two' }] })
  })

  it('is limited, counted and logged like other calls and needs no approval', async () => {
    give = () => 'x'.repeat(200_000)
    const { resultHandle } = await call()
    const page = { userId: 'ann', toolkit: 'loadout', tool: 'read_result', caller: { type: 'direct' as const } }
    const start = (more: object = {}) =>
      host.calls.start({ ...page, arguments: { handle: resultHandle, limit: 4000, ...more } }).outcome
    expect(await start()).toMatchObject({ status: 'ok', structuredContent: { nextOffset: 4000 } })
    const { callsThisHour, tokensToday } = await host.usage('ann')
    expect(callsThisHour.used).toBe(2)
    expect(tokensToday.used).toBeGreaterThan(1000)
    const { items } = await host.audit.list({ userId: 'ann' })
    expect(items.filter(({ ref }) => ref === 'loadout.read_result').map(({ outcome }) => outcome)).toContain('ok')
    expect(await start({ path: '$.a' })).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    await host.app.update({ limits: { maxCallsPerHour: 1 } })
    expect((await start()).status).toBe('limited')
  })
})

describe('JSON paths', () => {
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
  it.each([
    '$..x',
    '$.list[?(@.x)]',
    '$.a[',
    '$.missing',
    '$.__proto__',
    `$${'.a'.repeat(60)}`,
    '$["\\x"]',
    '$["\\u12"]',
    '$["a\nb"]',
  ])('rejects the path %s', (path) => {
    expect(() => selectPath(text, path)).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })
  it('report an invalid part with its position', () => {
    expect(() => selectPath(text, '$.a["\\x"]')).toThrow('"["\\x"]" at character 4')
  })
  it('select the same value as a plain lookup in any JSON value', () => {
    const key = fc.constantFrom('a', 'b c', '"', '\\', '😀', 'é', '__proto__')
    const value = fc.jsonValue({ maxDepth: 3 })
    const steps = fc.array(fc.oneof(key, fc.integer({ min: -2, max: 3 })), { maxLength: 4 })
    fc.assert(
      fc.property(fc.dictionary(key, fc.array(value)), steps, (document, path) => {
        const plain = JSON.parse(JSON.stringify(document))
        let expected: unknown = plain
        for (const step of path) expected = oneStep(expected, step)
        const written = `$${path.map((step) => `[${JSON.stringify(step)}]`).join('')}`
        if (expected === undefined)
          expect(() => selectPath(JSON.stringify(document), written)).toThrow('nothing at that')
        else expect(JSON.parse(selectPath(JSON.stringify(document), written))).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })
})
