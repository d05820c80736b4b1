/**
 * The server of our own protocol scenarios: one of the official SDK, the same in every era and over every transport. Its
 * tools say in `note` what happened to them, so that a test sees the server's side too.
 */
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

/** What all instances of one server share: with some transports there is one for each request. */
export interface ScenarioState {
  note(what: string): void
  /** How many tools came since the start. */
  grown: number
  /** Tells whoever listens of a new tool, so many times. */
  tellChanged(server: McpServer, change: { name: string; times: number }): void
  /** Lists come in pages: this many items, one a page; `again` gives the last cursor for ever, `endless` a new one. */
  pages?: { count: number; after?: 'again' | 'endless' }
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
const READS = { annotations: { readOnlyHint: true } }

export function scenarioServer(state: ScenarioState): McpServer {
  const server = new McpServer(
    { name: 'scenarios', version: '1.0.0' },
    {
      instructions: 'For tests.',
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        prompts: { listChanged: true },
      },
    },
  )
  addPlain(server, state)
  addSlow(server, state)
  addAsking(server, state)
  addChanging(server, state)
  addResources(server)
  if (state.pages) page(server, state.pages)
  return server
}

function addPlain(server: McpServer, { note }: ScenarioState): void {
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }), ...READS }, async ({ text: words }) => {
    note(`echo ${words}`)
    return text(words)
  })
  // Says nothing of itself: it must not be made twice.
  server.registerTool('write', { inputSchema: z.object({ text: z.string() }) }, async ({ text: words }) => {
    note(`write ${words}`)
    return text(`wrote ${words}`)
  })
  server.registerTool('fail', { ...READS }, async () => ({ ...text('it does not work'), isError: true }))
  server.registerTool(
    'weather',
    { inputSchema: z.object({}), outputSchema: z.object({ degrees: z.number() }), ...READS },
    async () => ({ ...text('21 degrees'), structuredContent: { degrees: 21 } }),
  )
  server.registerTool('large', { inputSchema: z.object({ lines: z.number() }), ...READS }, async ({ lines }) =>
    text(Array.from({ length: lines }, (_, i) => `line ${i + 1} of many that are in here`).join('\n')),
  )
}

function addSlow(server: McpServer, { note }: ScenarioState): void {
  const input = z.object({ to: z.number(), everyMs: z.number() })
  server.registerTool('count', { inputSchema: input, ...READS }, async ({ to, everyMs }, { mcpReq }) => {
    note('count')
    for (let progress = 1; progress <= to; progress++) {
      await tell(mcpReq, { progress, total: to, message: `step ${progress}` })
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
    return text(`counted to ${to}`)
  })
  server.registerTool('wait', { ...READS }, async ({ mcpReq }) => {
    note('wait')
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
    note('cancelled')
    return text('too late')
  })
  server.registerTool('crash', {}, async () => {
    note('crash')
    process.stderr.write('the disk is full\n')
    await new Promise((resolve) => setTimeout(resolve, 50))
    process.exit(3)
  })
}

async function tell({ _meta, notify }: ServerContext['mcpReq'], progress: object): Promise<void> {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  await notify({ method: 'notifications/progress', params: { progressToken, ...progress } })
}

function addAsking(server: McpServer, { note }: ScenarioState): void {
  const name = z.object({ name: z.string().min(1) })
  server.registerTool('ask', {}, async ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'name')
    if (answer.kind === 'elicit') {
      note(`answer ${answer.action} ${JSON.stringify(answer.content ?? null)}`)
      return text(answer.action === 'accept' ? `hello ${answer.content?.name}` : `they ${answer.action}`)
    }
    const asked = inputRequired.elicit({ message: 'Who are you?', requestedSchema: name })
    return inputRequired({ inputRequests: { name: asked } })
  })
  server.registerTool('ask-url', {}, async ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'page')
    if (answer.kind === 'elicit') return text(`page ${answer.action}`)
    const page = inputRequired.elicitUrl({ message: 'Pay here.', url: 'https://pay.example/checkout' })
    return inputRequired({ inputRequests: { page } })
  })
  server.registerTool('ask-twice', {}, async ({ mcpReq }) => {
    const state = mcpReq.requestState<string>()
    const first = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'first')
    const second = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'second')
    note(`round ${state ?? 'none'}`)
    const ask = (message: string) => inputRequired.elicit({ message, requestedSchema: name })
    if (second) return text(`${state} and ${second.name}`)
    if (!first) return inputRequired({ inputRequests: { first: ask('First?') }, requestState: 'begun' })
    return inputRequired({ inputRequests: { second: ask('Second?') }, requestState: first.name })
  })
}

function addChanging(server: McpServer, state: ScenarioState): void {
  const input = z.object({ times: z.number().default(1) })
  server.registerTool('grow', { inputSchema: input }, async ({ times }) => {
    const name = `grown-${++state.grown}`
    state.tellChanged(server, { name, times })
    return text('grown')
  })
  for (let i = 1; i <= state.grown; i++) addGrown(server, `grown-${i}`)
}

function addGrown(server: McpServer, name: string): void {
  server.registerTool(name, { ...READS }, async () => text(name))
}

/** Where one instance serves a whole session: it tells of its new tool itself. */
export const notifySession: ScenarioState['tellChanged'] = (server, { name, times }) => {
  addGrown(server, name)
  for (let i = 1; i < times; i++) server.sendToolListChanged()
}

function addResources(server: McpServer): void {
  server.registerResource('readme', 'docs://readme', { mimeType: 'text/plain' }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Read me.' }],
  }))
  const argsSchema = z.object({ who: z.string() })
  server.registerPrompt('greet', { argsSchema }, ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
  }))
}

/** Replaces the lists of the SDK, which come in one piece. */
function page(server: McpServer, { count, after }: NonNullable<ScenarioState['pages']>): void {
  const cursorAfter = (index: number) => {
    if (index + 1 < count) return { nextCursor: String(index + 1) }
    if (after === 'again') return { nextCursor: String(count - 1) }
    return after === 'endless' ? { nextCursor: String(index + 1) } : {}
  }
  const at = (cursor: string | undefined) => Number(cursor ?? 0)
  const { server: inner } = server
  inner.setRequestHandler('tools/list', ({ params }) => {
    const index = at(params?.cursor)
    return { tools: [{ name: `tool-${index}`, inputSchema: { type: 'object' } }], ...cursorAfter(index) }
  })
  inner.setRequestHandler('resources/list', ({ params }) => {
    const index = at(params?.cursor)
    return { resources: [{ name: `r${index}`, uri: `docs://${index}` }], ...cursorAfter(index) }
  })
  inner.setRequestHandler('prompts/list', ({ params }) => {
    const index = at(params?.cursor)
    return { prompts: [{ name: `prompt-${index}` }], ...cursorAfter(index) }
  })
}
