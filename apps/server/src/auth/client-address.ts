/** Client address of a request. `X-Forwarded-For` counts only as far as the operator's own proxies wrote it. */
import { isIP, isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { ClientInfo } from './sessions.ts'

/** `proxies`: number of reverse proxies before the server; each adds one address to `X-Forwarded-For`. */
export function clientInfo(c: Context, proxies: number): ClientInfo {
  const { headers } = c.req.raw
  return { headers, address: addressOf(headers.get('x-forwarded-for'), directAddress(c), proxies) }
}

export function addressOf(forwarded: string | null, direct: string, proxies: number): string {
  const hops = (forwarded ?? '').split(',').map((hop) => hop.trim())
  const named = proxies === 0 ? undefined : hops.at(-proxies)
  return counted(named !== undefined && isIP(named) > 0 ? named : direct)
}

function directAddress(c: Context): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? ''
}

/** An IPv6 client has a whole /64 network, so rate limits count the network. */
function counted(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address === '' ? '0.0.0.0' : address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const first = head.split(':').filter((group) => group !== '')
  const last = (tail ?? '').split(':').filter((group) => group !== '')
  const groups =
    tail === undefined ? first : [...first, ...Array(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::`
}
