/** A call as a command line that makes the same one. */

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export interface CurlCall {
  origin: string
  toolkit: string
  tool: string
  arguments: unknown
  /** Whether a key must come along. */
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
