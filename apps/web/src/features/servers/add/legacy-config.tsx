import { Import } from 'lucide-react'
import { useState } from 'react'
import { counted } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'

/** Servers that an older app stored in this browser: offered once, previewed first, removed on request. */
export const LEGACY_KEY = 'mcp_servers_config'
const SEEN_KEY = 'loadout-older-config'

export interface LegacyConfig {
  text: string
  count: number
}

type ConfigStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function findLegacyConfig(storage: ConfigStorage): LegacyConfig | undefined {
  const text = storage.getItem(LEGACY_KEY)
  if (!text || storage.getItem(SEEN_KEY) !== null) return undefined
  const servers = serversIn(text)
  return servers === undefined
    ? undefined
    : { text: JSON.stringify({ mcpServers: servers }, undefined, 2), count: Object.keys(servers).length }
}

/** Hides the offer and keeps the stored config. */
export const dismissLegacyConfig = (storage: ConfigStorage): void => storage.setItem(SEEN_KEY, 'left')

export const removeLegacyConfig = (storage: ConfigStorage): void => storage.removeItem(LEGACY_KEY)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Accepts a map or an array of servers, also inside a `{ state, version }` store. */
function serversIn(text: string): Record<string, unknown> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const wrapped = isObject(value) && isObject(value.state) ? value.state : value
  const section = isObject(wrapped) ? (wrapped.mcpServers ?? wrapped.servers ?? wrapped.configs ?? wrapped) : wrapped
  const servers = Array.isArray(section) ? byName(section) : section
  if (!isObject(servers)) return undefined
  const entries = Object.entries(servers).filter(([, server]) => isObject(server) && describes(server))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const byName = (list: readonly unknown[]) =>
  Object.fromEntries(
    list.filter(isObject).map((server, index) => [String(server.name ?? server.id ?? `server-${index + 1}`), server]),
  )

const describes = ({ command, url, serverUrl, tools }: Record<string, unknown>) =>
  [command, url, serverUrl].some((field) => typeof field === 'string') || Array.isArray(tools)

interface OlderOfferProps {
  config: LegacyConfig
  onLook: () => void
  onLeave: () => void
  onRemove: () => void
}

export function OlderOffer({ config, onLook, onLeave, onRemove }: OlderOfferProps) {
  return (
    <section aria-labelledby="older-config" className="grid gap-3 rounded-xl border bg-surface p-4 shadow-flat">
      <div className="grid gap-0.5">
        <h2 id="older-config" className="flex items-center gap-2 text-sm font-semibold">
          <Import aria-hidden className="size-4 text-ink-muted" />
          An older set-up left {counted(config.count, 'server')} in this browser
        </h2>
        <p className="text-sm text-ink-muted">Look at them first; nothing is taken until you say so.</p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button size="small" variant="primary" onClick={onLook}>
          Look at them
        </Button>
        <Button size="small" onClick={onLeave}>
          Not now
        </Button>
        <Button size="small" variant="quiet" onClick={onRemove}>
          Remove them from this browser
        </Button>
      </div>
    </section>
  )
}

/** Undefined if the browser blocks storage. */
function openStorage(): Storage | undefined {
  try {
    return window.localStorage
  } catch {
    return undefined
  }
}

export function useOlderConfig() {
  const [offered, setOffered] = useState(() => {
    const storage = openStorage()
    return storage && findLegacyConfig(storage)
  })
  const end = (action: (storage: Storage) => void) => () => {
    const storage = openStorage()
    if (storage) action(storage)
    setOffered(undefined)
  }
  return { offered, leave: end(dismissLegacyConfig), remove: end(removeLegacyConfig) }
}
