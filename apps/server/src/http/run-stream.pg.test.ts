/** Streams a run of another host over the same PostgreSQL: node states, then the run. */
import { randomBytes } from 'node:crypto'
import { defineTool, masterKeyRing, rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { postgres } from '@loadout/core/storage/postgres'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { createApp } from './app.ts'

const KEY = randomBytes(32).toString('base64')
const gates = new Map<string, PromiseWithResolvers<void>>()
const hosts: HostServices[] = []
const apps: ReturnType<typeof createApp>[] = []
let database: Awaited<ReturnType<typeof createDatabase>>

beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'))
  for (const place of ['first', 'second']) {
    const tool = (name: string, annotations: object) =>
      defineTool({
        name,
        description: `Does ${name}.`,
        annotations,
        inputSchema: { type: 'object' },
        execute: async () => {
          await gates.get(name)?.promise
          return place
        },
      })
    const host = createServices({
      storage: postgres({ url: database.url }),
      keyRing: await masterKeyRing(KEY),
      tools: [tool('look', { readOnlyHint: true }), tool('write', {}), tool('ask', {})],
      policy: [rule('app.ask', 'ask'), rule('*', 'allow')],
    })
    hosts.push(host)
    apps.push(createApp({ host, authenticate: () => ({ kind: 'session', userId: 'ann' }) }))
    await host.ready()
  }
})
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()))
  await database.drop()
})

const node = (id: string, tool: string, after: string[] = []) => ({ id, type: 'tool', ref: `app.${tool}`, after })
const close = (...names: string[]) => {
  for (const name of names) gates.set(name, Promise.withResolvers())
}

async function* streamed(at: number, runId: string): AsyncGenerator<string> {
  const app = apps[at] as ReturnType<typeof createApp>
  const answer = await app.request(`/api/runs/${runId}`, { headers: { accept: 'text/event-stream' } })
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, event, data = ''] = /^event: (.*)\ndata: (.*)/.exec(text.slice(0, end)) ?? []
      text = text.slice(end + 2)
      const read = JSON.parse(data) as { node?: string; status: string }
      yield event === 'node' ? `${read.node} ${read.status}` : `${event} ${read.status}`
    }
  }
}

it('a run stream reaches a reader on another process live', async () => {
  close('look', 'write')
  const nodes = [node('a', 'look'), node('b', 'write', ['a']), node('c', 'look', ['b'])]
  const { id } = (await hosts[0]?.workflows.start('ann', { definition: { name: 'w', nodes } })) ?? { id: '' }
  const received: string[] = []
  for await (const one of streamed(1, id)) {
    received.push(one)
    if (one === 'a running') gates.get('look')?.resolve()
    if (one === 'b running') gates.get('write')?.resolve()
  }
  expect(received).toEqual(
    expect.arrayContaining(['a running', 'a completed', 'b running', 'b completed', 'c completed', 'run completed']),
  )
  expect([received[0], received.at(-1)]).toEqual(['started running', 'run completed'])
  expect(received.indexOf('a completed')).toBeLessThan(received.indexOf('b completed'))
  // The first host ran the node.
  expect((await hosts[1]?.runs.get('ann', id))?.output).toBe('first')
})

it('the stream of a paused run reports the pause and, after it continues elsewhere, the new steps', async () => {
  close('ask')
  const nodes = [node('a', 'ask'), node('b', 'look', ['a'])]
  const paused = await hosts[0]?.workflows.run('ann', { definition: { name: 'w', nodes } })
  const id = paused?.id ?? ''
  const before: string[] = []
  for await (const one of streamed(1, id)) before.push(one)
  expect(before).toEqual(['started paused', 'a paused', 'run paused'])
  await hosts[0]?.approvals.answer('ann', paused?.steps[0]?.approvalId ?? '', { decision: 'allow' })
  await expect.poll(async () => (await hosts[1]?.runs.get('ann', id))?.status).toBe('running')
  const received: string[] = []
  for await (const one of streamed(1, id)) {
    received.push(one)
    if (one === 'a running') gates.get('ask')?.resolve()
  }
  expect(received).toEqual(expect.arrayContaining(['a running', 'a completed', 'b completed', 'run completed']))
})

it('a stream that starts late reports the nodes that already run, also on the process that runs them', async () => {
  close('write')
  const { id } = (await hosts[1]?.workflows.start('ann', {
    definition: { name: 'w', nodes: [node('a', 'write')] },
  })) ?? { id: '' }
  await expect.poll(async () => (await hosts[1]?.runs.get('ann', id))?.steps[0]?.status).toBe('started')
  const received: string[] = []
  for await (const one of streamed(1, id)) {
    received.push(one)
    // Opens the gate on any second event, so that a lost state fails the test instead of blocking it.
    if (received.length === 2) gates.get('write')?.resolve()
  }
  expect(received).toEqual(['started running', 'a running', 'a completed', 'run completed'])
})

it('a run stream returns 404 to other users', async () => {
  const app = createApp({ host: hosts[1] as HostServices, authenticate: () => ({ kind: 'session', userId: 'bob' }) })
  const { id } = (await hosts[0]?.workflows.run('ann', {
    definition: { name: 'w', nodes: [node('a', 'write')] },
  })) ?? { id: '' }
  const answer = await app.request(`/api/runs/${id}`, { headers: { accept: 'text/event-stream' } })
  expect(answer.status).toBe(404)
})
