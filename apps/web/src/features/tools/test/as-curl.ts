/** Formats a call as a curl command. */

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export interface CurlCall {
  origin: string
  toolkit: string
  tool: string
  arguments: unknown
  /** Whether the call needs an API key. */
  withKey: boolean
}

export function asCurl({ origin, toolkit, tool, arguments: args, withKey }: CurlCall): string {
  const url = `${origin}/api/tools/${encodeURIComponent(toolkit)}/${encodeURIComponent(tool)}/call`
  const lines = [
    `curl -X POST ${quoted(url)}`,
    `-H ${quoted('Content-Type: application/json')}`,
    ...(withKey ? ['-H "Authorization: Bearer $LOADOUT_API_KEY"'] : []),
    `-d ${quoted(JSON.stringify({ arguments: args ?? {} }))}`,
  ]
  return lines.join(' \\\n  ')
}
