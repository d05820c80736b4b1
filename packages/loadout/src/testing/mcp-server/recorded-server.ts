/**
 * Records the answers of a real server in a file, and replays them without the server. The file has manifests, arguments and
 * results, and no environment variable or header.
 */
import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { HostError } from '../../errors.ts'
import { canonicalJson, type JsonObject, parse, parseJson } from '../../schema/json.ts'
import { loadSdk } from './listener.ts'
import {
  type McpServerOptions,
  type McpTestServer,
  type McpTestTool,
  type McpTransport,
  startMcpServer,
} from './start-server.ts'

export interface RecordedServerOptions<T extends McpTransport = McpTransport>
  extends Pick<McpServerOptions<T>, 'name' | 'transport' | 'faults'> {
  /** JSON file of the recording. */
  file: string
  /** The real server. Replaying does not need it. */
  server?:
    | { url: string; headers?: Readonly<Record<string, string>> }
    | { command: string; args?: readonly string[]; env?: Readonly<Record<string, string>> }
  /** `auto` replays if the file exists, and records otherwise. @default 'auto' */
  mode?: 'auto' | 'record' | 'replay'
  /** Texts that the file must not contain. They become `•••`. */
  redact?: readonly string[]
}

export interface RecordedServer<T extends McpTransport = McpTransport> extends McpTestServer<T> {
  readonly mode: 'record' | 'replay'
}

const answer = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
])
const recording = z.object({
  server: z.object({ name: z.string(), version: z.string() }),
  tools: z.array(z.looseObject({ name: z.string() })),
  calls: z.array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()), answer })),
})
type Recording = z.infer<typeof recording>
type Answer = z.infer<typeof answer>

/**
 * Starts a server that records or replays another one. Equal calls are replayed in the order of their recording, and the last answer
 * repeats.
 * @example await using server = await startRecordedServer({ file: 'github.json', server: { command: 'github-mcp-server' } })
 */
export async function startRecordedServer<T extends McpTransport = 'http'>(
  options: RecordedServerOptions<T>,
): Promise<RecordedServer<T>> {
  const { existsSync } = await import('node:fs')
  const { mode = 'auto', file } = options
  const isReplay = mode === 'replay' || (mode === 'auto' && existsSync(file))
  return isReplay ? replay(options) : record(options)
}

async function replay<T extends McpTransport>(options: RecordedServerOptions<T>): Promise<RecordedServer<T>> {
  const { readFile } = await import('node:fs/promises')
  const { file } = options
  const { tools, calls, server } = parse(recording, parseJson(await readFile(file, 'utf8')))
  const redact = redactor(options.redact)
  const answers = Map.groupBy(calls, (call) => keyOf(call.tool, call.arguments))
  const answerTo = (tool: string, args: JsonObject): Answer => {
    const recorded = answers.get(keyOf(tool, JSON.parse(redact(JSON.stringify(args)))))
    const next = recorded && recorded.length > 1 ? recorded.shift() : recorded?.[0]
    if (next) return next.answer
    throw new HostError('not-found', {
      detail: `\`${file}\` has no answer of \`${tool}\` to these arguments.`,
      action: 'Record the call: delete the file, or use the mode `record`.',
    })
  }
  const replayed = await startMcpServer({
    ...serverOptions(options, server.name),
    tools: tools.map((tool) => withAnswer(tool, async (args) => answerTo(tool.name, args))),
  })
  return { ...replayed, mode: 'replay' }
}

async function record<T extends McpTransport>(options: RecordedServerOptions<T>): Promise<RecordedServer<T>> {
  const { file } = options
  const client = await connect(options)
  const { name, version } = client.getServerVersion() ?? { name: 'recorded', version: '0' }
  const written: Recording = { server: { name, version }, tools: await listTools(client), calls: [] }
  const redact = redactor(options.redact)
  let saving = Promise.resolve()
  const save = () => {
    const text = redact(`${JSON.stringify(written, null, 2)}\n`)
    saving = saving.then(() => write(file, text))
    return saving
  }
  await save()
  const recorded = await startMcpServer({
    ...serverOptions(options, name),
    tools: written.tools.map((tool) =>
      withAnswer(tool, async (args) => {
        const received = await callTool(client, tool.name, args)
        written.calls.push({ tool: tool.name, arguments: args, answer: received })
        await save()
        return received
      }),
    ),
  })
  const close = async () => {
    await recorded.close()
    await client.close()
    await saving
  }
  return { ...recorded, mode: 'record', close, [Symbol.asyncDispose]: close }
}

const serverOptions = <T extends McpTransport>(
  { transport, faults, name }: RecordedServerOptions<T>,
  recordedName: string,
) => ({
  name: name ?? recordedName,
  ...(transport === undefined ? {} : { transport }),
  ...(faults === undefined ? {} : { faults }),
})

function withAnswer(tool: JsonObject & { name: string }, answerTo: (args: JsonObject) => Promise<Answer>): McpTestTool {
  const execute = async (args: JsonObject) => {
    const found = await answerTo(args)
    if ('result' in found) return found.result
    const { ProtocolError } = await loadSdk()
    throw new ProtocolError(found.error.code, found.error.message)
  }
  return { ...tool, execute }
}

async function connect({ server }: RecordedServerOptions): Promise<Client> {
  if (!server)
    throw new HostError('invalid-input', {
      detail: 'There is no recording yet, and no server to record.',
      action: 'Give `server` with a `url` or a `command`.',
    })
  const sdk = await import('@modelcontextprotocol/client')
  const client = new sdk.Client({ name: 'recorder', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  if ('url' in server) {
    const requestInit = { headers: { ...server.headers } }
    await client.connect(new sdk.StreamableHTTPClientTransport(new URL(server.url), { requestInit }))
    return client
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const { command, args = [], env = {} } = server
  await client.connect(new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'ignore' }))
  return client
}

async function listTools(client: Client): Promise<Recording['tools']> {
  const tools: Recording['tools'] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor })
    tools.push(...(page.tools as Recording['tools']))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tools
}

async function callTool(client: Client, name: string, args: JsonObject): Promise<Answer> {
  try {
    return { result: (await client.callTool({ name, arguments: args })) as JsonObject }
  } catch (error) {
    const { ProtocolError } = await import('@modelcontextprotocol/client')
    if (!(error instanceof ProtocolError)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}

async function write(file: string, text: string): Promise<void> {
  const [{ mkdir, writeFile }, { dirname }] = await Promise.all([import('node:fs/promises'), import('node:path')])
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const keyOf = (tool: string, args: JsonObject) => `${tool} ${canonicalJson(args)}`

function redactor(texts: readonly string[] = []): (json: string) => string {
  const inJson = texts.filter((text) => text !== '').map((text) => JSON.stringify(text).slice(1, -1))
  return (json) => inJson.reduce((text, secret) => text.replaceAll(secret, '•••'), json)
}
