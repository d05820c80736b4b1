/** Results: returned unchanged, validated against their schema, truncated when too large. */
import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { Fault } from '../../../../../test/scenario-http.ts'
import type { Scenarios } from './scenario-context.ts'

/** The server's calls are answered with this instead. */
const gives =
  (result: object): Fault =>
  ({ message }, response) => {
    if (message?.method !== 'tools/call') return false
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } }))
    return true
  }

const pours: Fault = ({ message }, response) => {
  if (message?.method !== 'tools/call') return false
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":"')
  pour(response)
  return true
}

function pour(response: ServerResponse): void {
  const block = Buffer.alloc(1024 * 1024, 0x78)
  const write = () => {
    while (!response.destroyed) if (!response.write(block)) return void response.once('drain', write)
  }
  write()
}

const PICTURE = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
const UNKNOWN = { type: 'hologram', depth: 3, data: { any: ['thing'] } }

export const RESULTS: Scenarios = {
  async 'structured content is returned and its schema is listed'(world) {
    await world.http('modern')
    const tool = world.view.tools.find(({ name }: { name: string }) => name === 'weather')
    expect(tool.outputSchema).toMatchObject({ properties: { degrees: { type: 'number' } } })
    const { body } = await world.call('weather')
    expect(body).toMatchObject({ status: 'ok', structuredContent: { degrees: 21 }, content: [{ text: '21 degrees' }] })
  },

  async 'structured content that violates its schema is removed with a warning'(world) {
    const wrong = { content: [{ type: 'text', text: 'warm' }], structuredContent: { degrees: 'warm' } }
    const server = await world.http('legacy', { fault: gives(wrong) })
    const { status, body } = await world.call('weather')
    expect(status).toBe(200)
    expect(body.structuredContent).toBeUndefined()
    expect(body.content[0].text).toBe('warm')
    expect(body.content[1].text).toContain('structuredContent.degrees')
    expect(server.of('tools/call')).toHaveLength(1)
  },

  async "a tool's own failure is a result, not an error of ours"(world) {
    const server = await world.stdio('legacy')
    const { status, body } = await world.call('fail')
    expect([status, body.status, body.content[0].text]).toEqual([200, 'tool-error', 'it does not work'])
    expect(server.of('tools/call')).toHaveLength(1)
  },

  async 'content blocks of an unknown type are returned unchanged by a legacy server'(world) {
    await world.http('legacy', { fault: gives({ content: [UNKNOWN, PICTURE] }) })
    expect((await world.call('echo', { text: 'x' })).body.content).toEqual([UNKNOWN, PICTURE])
  },

  async 'content blocks of an unknown type are returned unchanged by a 2026-07-28 server'(world) {
    await world.http('modern', { fault: gives({ content: [UNKNOWN, PICTURE] }) })
    expect((await world.call('echo', { text: 'x' })).body.content).toEqual([UNKNOWN, PICTURE])
  },

  async 'a large result is returned as a preview with a handle for the rest'(world) {
    const server = await world.stdio('modern')
    const { body } = await world.call('large', { lines: 50_000 })
    expect(body.content[0].text.length).toBeLessThan(3000)
    expect(body.resultHandle).toEqual(expect.any(String))
    const part = await world.ask(`GET /results/${body.resultHandle}?fromLine=40000&lines=2`)
    expect(part.body).toMatchObject({ lines: 50_000, nextLine: 40_002 })
    expect(part.body.text).toMatch(/^line 40000 .*\nline 40001 /)
    expect(server.of('tools/call')).toHaveLength(1)
  },

  async 'an endless response is cut off and the next call works'(world) {
    const server = await world.http('modern', {
      fault: (seen, response, nth) => nth === 1 && pours(seen, response, nth),
    })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'response-too-large' } })
    await world.until(() => server.of('tools/call')[0]?.aborted)
    expect((await world.call('echo', { text: 'y' })).status).toBe(200)
  },

  async 'a protocol error is reported with its code and the session stays open'(world) {
    const server = await world.http('legacy', {
      fault: ({ message }, response, nth) => {
        if (message?.method !== 'tools/call' || nth > 1) return false
        const error = { code: -32_602, message: 'bad\u0007 arguments' }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }))
        return true
      },
    })
    const { status, body } = await world.call('write', { text: 'x' })
    expect([status, body.code]).toEqual([422, 'refused-by-server'])
    expect(body.detail).toContain('-32602')
    expect(body.detail).not.toContain('\u0007')
    expect((await world.call('write', { text: 'y' })).status).toBe(200)
    expect(server.of('initialize')).toHaveLength(1)
  },

  async 'a resource is listed and read on the open connection'(world) {
    const server = await world.http('legacy')
    const { body } = await world.ask(`GET /mcp/${world.id}/resources`)
    expect(body.items).toMatchObject([{ name: 'readme', uri: 'docs://readme' }])
    const read = await world.ask(`GET /mcp/${world.id}/resources/read?uri=${encodeURIComponent('docs://readme')}`)
    expect(read.body.contents).toMatchObject([{ uri: 'docs://readme', text: 'Read me.' }])
    expect(server.of('resources/read').map(({ message }) => message?.params?.uri)).toEqual(['docs://readme'])
    expect(server.of('initialize')).toHaveLength(1)
  },

  async 'a prompt is listed and rendered with arguments'(world) {
    const server = await world.stdio('modern')
    const { body } = await world.ask(`GET /mcp/${world.id}/prompts`)
    expect(body.items).toMatchObject([{ name: 'greet', arguments: [{ name: 'who', required: true }] }])
    const filled = await world.ask(`POST /mcp/${world.id}/prompts/greet`, { arguments: { who: 'Ann' } })
    expect(filled.body.messages).toMatchObject([{ role: 'user', content: { text: 'Greet Ann.' } }])
    expect(server.of('prompts/get').map(({ params }) => params?.arguments)).toEqual([{ who: 'Ann' }])
  },
}
