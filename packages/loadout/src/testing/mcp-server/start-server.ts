/**
 * MCP server for tests of apps: the official SDK over Streamable HTTP or stdio, with tools that are functions of the test. Faults can
 * be added and removed while it runs.
 */
import type { McpServer as SdkServer, Tool } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../schema/json.ts'
import type { Annotations } from '../../schema/toolkit/tool.ts'
import { isObject } from '../../util/is-object.ts'
import { type Fault, Faults } from './faults.ts'
import { listenOverHttp } from './http.ts'
import { loadSdk } from './listener.ts'
import { listenOverStdio } from './stdio.ts'

export interface McpTestTool {
  name: string
  title?: string
  description?: string
  /** JSON Schema. @default an object with any properties */
  inputSchema?: JsonObject
  outputSchema?: JsonObject
  annotations?: Annotations
  /**
   * A text becomes the result's text, an object with `content` is the result as it is, and any other value is structured content.
   * An error becomes a tool error; a `ProtocolError` of the SDK becomes a JSON-RPC error. @default returns the arguments
   */
  execute?(input: JsonObject): unknown
}

export type McpTransport = 'http' | 'stdio'

export interface McpServerOptions<T extends McpTransport = McpTransport> {
  /** @default 'test' */
  name?: string
  tools: readonly McpTestTool[]
  faults?: readonly Fault[]
  /** @default 'http' */
  transport?: T
}

export interface McpTestServer<T extends McpTransport = McpTransport> extends AsyncDisposable {
  /**
   * Record of the server, for `ann.toolkits.add`.
   * @example await ann.toolkits.add(server.toolkit)
   */
  readonly toolkit: { name: string } & (T extends 'http' ? { url: string } : { command: string; args: string[] })
  /** Calls that reached a tool, in their order. */
  readonly calls: ReadonlyArray<{ tool: string; arguments: JsonObject }>
  /** Replaces the tools. Clients see them when they list tools again. */
  setTools(tools: readonly McpTestTool[]): void
  /** Adds a fault. Faults apply in the order in which they were added. */
  fail(fault: Fault): void
  /** Removes all faults. */
  recover(): void
  close(): Promise<void>
}

/**
 * Starts an MCP server for tests.
 * @example await using server = await startMcpServer({ tools: [{ name: 'now', execute: () => '12:00' }] })
 */
export async function startMcpServer<T extends McpTransport = 'http'>(
  options: McpServerOptions<T>,
): Promise<McpTestServer<T>> {
  const { name = 'test', transport = 'http' } = options
  const { McpServer, ProtocolError } = await loadSdk()
  const faults = new Faults()
  for (const fault of options.faults ?? []) faults.add(fault)
  const calls: Array<{ tool: string; arguments: JsonObject }> = []
  let tools = options.tools
  const factory = () => {
    const server: SdkServer = new McpServer({ name, version: '1.0.0' }, { capabilities: { tools: {} } })
    server.server.setRequestHandler('tools/list', () => ({ tools: tools.map(listed) }))
    server.server.setRequestHandler('tools/call', async ({ params }) => {
      const call = { tool: params.name, arguments: params.arguments ?? {} }
      const tool = tools.find((one) => one.name === call.tool)
      if (!tool) return failed(`There is no tool \`${call.tool}\`.`)
      calls.push(call)
      try {
        return resultOf(tool.execute ? await tool.execute(call.arguments) : call.arguments)
      } catch (error) {
        if (error instanceof ProtocolError) throw error
        return failed(error instanceof Error ? error.message : String(error))
      }
    })
    return server
  }
  const listen = transport === 'http' ? listenOverHttp : listenOverStdio
  const listener = await listen(factory, { onMessage: (message) => faults.interfere(message) })
  return {
    toolkit: { name, ...listener.server } as unknown as McpTestServer<T>['toolkit'],
    calls,
    setTools(list) {
      tools = list
    },
    fail: (fault) => faults.add(fault),
    recover: () => faults.clear(),
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  }
}

function listed({ execute: _, inputSchema = {}, ...tool }: McpTestTool): Tool {
  return { ...tool, inputSchema: { type: 'object', ...inputSchema } } as Tool
}

type Result = { content: Array<{ type: 'text'; text: string }>; structuredContent?: JsonObject; isError?: boolean }

const textOf = (text: string): Result['content'] => [{ type: 'text', text }]
const failed = (text: string): Result => ({ content: textOf(text), isError: true })

function resultOf(value: unknown): Result {
  if (isObject(value) && Array.isArray(value.content)) return value as unknown as Result
  if (isObject(value)) return { content: textOf(JSON.stringify(value)), structuredContent: value }
  return { content: textOf(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')) }
}
