/** Stdio servers in both protocol eras. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { ScenarioContext, Scenarios, StdioScenario } from './scenario-context.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const starts = (server: StdioScenario) => server.notes().filter((note) => note.startsWith('started'))

function isAlive(pid: number): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return line.slice(line.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}

/** It ends in a call: its code and its last words are told, nothing is done twice, and the next call starts it again. */
async function crashes(world: ScenarioContext, era: 'legacy' | 'modern'): Promise<void> {
  const server = await world.stdio(era)
  const { status, body } = await world.call('crash')
  expect([status, body.code]).toEqual([502, 'server-crashed'])
  expect(body.detail).toMatch(/code 3/)
  expect(body.detail).toContain('the disk is full')
  expect(server.of('tools/call')).toHaveLength(1)
  expect((await world.call('echo', { text: 'back' })).body.content[0].text).toBe('back')
  expect(starts(server)).toHaveLength(2)
}

export const STDIO: Scenarios = {
  async 'a legacy server is probed, initialized, listed and called on one process'(world) {
    const server = await world.stdio('legacy')
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    expect(server.messages().map(({ method }) => method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
    ])
    expect(server.of('initialize')[0]?.params).toMatchObject({ protocolVersion: '2025-11-25' })
    expect(starts(server)).toHaveLength(1)
  },

  async 'a 2026-07-28 server is discovered, never initialized, and gets the version with every request'(world) {
    const server = await world.stdio('modern')
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    const methods = server.messages().map(({ method }) => method)
    expect(methods[0]).toBe('server/discover')
    expect(methods).toEqual(expect.arrayContaining(['tools/list', 'tools/call']))
    expect(methods).not.toContain('initialize')
    for (const { params } of server.messages()) expect(params?._meta?.[VERSION]).toBe('2026-07-28')
    expect(starts(server)).toHaveLength(1)
  },

  'a crash in a call of a legacy server is reported and the next call restarts the process': (world) =>
    crashes(world, 'legacy'),
  'a crash in a call of a 2026-07-28 server is reported and the next call restarts the process': (world) =>
    crashes(world, 'modern'),

  async 'the output of a process that fails to start is reported'(world) {
    const args = ['-e', 'console.error("no token in the environment"); process.exit(2)']
    const { state } = await world.add({ command: process.execPath, args })
    expect(state.status).toBe('error')
    expect(state.reason).toMatch(/code 2/)
    expect(state.reason).toContain('no token in the environment')
  },

  async 'fifty concurrent calls on one process get their own answers'(world) {
    const server = await world.stdio('modern')
    const words = Array.from({ length: 50 }, (_, i) => `word ${i}`)
    const answers = await Promise.all(words.map((text) => world.call('echo', { text })))
    expect(answers.map(({ body }) => body.content[0].text)).toEqual(words)
    expect(new Set(server.of('tools/call').map(({ id }) => id)).size).toBe(50)
    expect(starts(server)).toHaveLength(1)
  },

  async 'the process ends with its toolkit'(world) {
    const server = await world.stdio('legacy')
    const pid = Number(starts(server)[0]?.split(' ')[1])
    expect(isAlive(pid)).toBe(true)
    expect((await world.ask(`DELETE /mcp/${world.id}`)).status).toBe(204)
    await world.until(() => !isAlive(pid))
  },
}
