/** What an older set-up left in this browser: offered once, looked at before anything is taken, and gone when its user says so. */
export const OLDER_KEY = 'mcp_servers_config'
const SEEN_KEY = 'loadout-older-config'

export interface OlderConfig {
  text: string
  count: number
}

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function findOlderConfig(kept: Kept): OlderConfig | undefined {
  const text = kept.getItem(OLDER_KEY)
  if (!text || kept.getItem(SEEN_KEY) !== null) return undefined
  const servers = serversIn(text)
  return servers === undefined
    ? undefined
    : { text: JSON.stringify({ mcpServers: servers }, undefined, 2), count: Object.keys(servers).length }
}

/** Not offered again; it stays where it is. */
export const leaveOlderConfig = (kept: Kept): void => kept.setItem(SEEN_KEY, 'left')

export const removeOlderConfig = (kept: Kept): void => kept.removeItem(OLDER_KEY)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Stores of pages wrap what they hold (`{ state: { … }, version }`); the servers are in it by name, or as a list. */
function serversIn(text: string): Record<string, unknown> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const wrapped = isObject(value) && isObject(value.state) ? value.state : value
  const held = isObject(wrapped) ? (wrapped.mcpServers ?? wrapped.servers ?? wrapped.configs ?? wrapped) : wrapped
  const servers = Array.isArray(held) ? byName(held) : held
  if (!isObject(servers)) return undefined
  const entries = Object.entries(servers).filter(([, server]) => isObject(server) && describes(server))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const byName = (list: readonly unknown[]) =>
  Object.fromEntries(
    list.filter(isObject).map((one, index) => [String(one.name ?? one.id ?? `server-${index + 1}`), one]),
  )

const describes = ({ command, url, serverUrl, tools }: Record<string, unknown>) =>
  [command, url, serverUrl].some((field) => typeof field === 'string') || Array.isArray(tools)
