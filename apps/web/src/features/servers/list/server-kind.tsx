import { Braces, Globe, type LucideIcon, Terminal } from 'lucide-react'
import type { Toolkit } from '../../../lib/api.ts'

interface ServerKind {
  label: string
  icon: LucideIcon
}

const KINDS: Readonly<Record<string, ServerKind>> = {
  stdio: { label: 'stdio', icon: Terminal },
  http: { label: 'HTTP', icon: Globe },
  sse: { label: 'SSE', icon: Globe },
  custom: { label: 'Custom', icon: Braces },
}
const UNKNOWN: ServerKind = { label: 'Server', icon: Braces }

export const kindOf = ({ server }: Toolkit): ServerKind => KINDS[String(server.type)] ?? UNKNOWN

/** Command line or URL of a server, with stored secrets masked. */
export const addressOf = ({ server }: Toolkit): string => formatServer(server).replace(/\$\{secret:[^}]*\}/g, '••••')

export function formatServer(server: Readonly<Record<string, unknown>>): string {
  const args = Array.isArray(server.args) ? server.args : []
  return typeof server.url === 'string' ? server.url : [server.command, ...args].filter(Boolean).map(quoted).join(' ')
}

/** Number of stored secrets. */
export const storedSecrets = ({ secretFields }: Toolkit): number => secretFields.length

const quoted = (part: unknown) => (/\s/.test(String(part)) ? `'${part}'` : String(part))
