/** Address of a pasted server, read from the text in the page, so that the API need not return pasted data. */
import { formatServer } from '../list/server-kind.tsx'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Command line or URL; undefined if the text has none. */
export function pastedAddress(text: string, name: string): string | undefined {
  const config = parsed(text) ?? parsed(`{${text}}`)
  if (!isObject(config)) return undefined
  const servers = config.mcpServers ?? config.servers ?? config
  const server = isObject(servers) && Object.hasOwn(servers, name) ? servers[name] : config
  if (!isObject(server)) return undefined
  const url = server.url ?? server.serverUrl ?? server.httpUrl
  return formatServer({ ...server, url }) || undefined
}

const STRING = String.raw`"(?:\\.|[^"\\])*"`
const COMMENT = new RegExp(String.raw`${STRING}|//[^\n]*|/\*[\s\S]*?\*/`, 'g')
const LAST_COMMA = new RegExp(String.raw`${STRING}|,(?=\s*[}\]])`, 'g')
const unlessText = (instead: string) => (found: string) => (found.startsWith('"') ? found : instead)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(COMMENT, unlessText(' ')).replace(LAST_COMMA, unlessText('')))
  } catch {
    return undefined
  }
}
