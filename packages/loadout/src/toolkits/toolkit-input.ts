/** Typed forms of a server record, one for each transport. The reader in `schema/read/` accepts more spellings than these. */

import type { Auth } from '../schema/toolkit/server.ts'
import type { ToolkitRecord } from '../schema/toolkit/toolkit.ts'
import type { DefinedTool } from './define-tool.ts'

/** Fields that every toolkit has, whatever its transport. */
export type ToolkitFields = Partial<Omit<ToolkitRecord, 'server'>>

/**
 * A server that runs as a process of this machine and speaks over its standard input and output.
 *
 * @example
 * const files: StdioToolkit = { name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }
 */
export interface StdioToolkit extends ToolkitFields {
  transport?: 'stdio'
  command: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  cwd?: string
  url?: never
}

/**
 * A server behind a URL: Streamable HTTP, or the older SSE transport.
 *
 * @example
 * const github: RemoteToolkit = { name: 'github', url: 'https://example.com/mcp', auth: { type: 'oauth' } }
 */
export interface RemoteToolkit extends ToolkitFields {
  transport?: 'http' | 'sse'
  url: string
  headers?: Readonly<Record<string, string>>
  auth?: Auth
  command?: never
}

/**
 * Functions of the app, or code, as tools.
 *
 * @example
 * const shop: CustomToolkit = { name: 'shop', tools: [defineTool({ name: 'refund', execute: () => 'done' })] }
 */
export interface CustomToolkit extends Omit<ToolkitFields, 'tools'> {
  tools: readonly DefinedTool[]
}

/** A toolkit whose server is a record of its own, as `defineToolkit` and an export write it. */
export type ServerToolkit = Partial<ToolkitRecord> & Pick<ToolkitRecord, 'server'>

export type ToolkitInput = StdioToolkit | RemoteToolkit | CustomToolkit | ServerToolkit
