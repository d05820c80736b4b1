/**
 * Host patterns: `api.example.com`, `*.example.com`, `api.example.com:8443`. Without a port, ports 80 and 443 match.
 */
import { z } from 'zod'

export const hostPattern = z
  .string()
  .max(260)
  .toLowerCase()
  .regex(
    /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/,
    'must be a host name, without a path and with its port at most',
  )

/** Pattern for operators: `*` matches every host. */
export const widestHostPattern = z.union([z.literal('*'), hostPattern], {
  error: 'must be a host name, without a path and with its port at most, or "*"',
})

interface HostRule {
  /** Without the star: `.example.com`. */
  name: string
  isWild: boolean
  port: number | undefined
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443])

function readRule(pattern: string): HostRule {
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? []
  const isWild = name === '*' || name.startsWith('*.')
  return { name: isWild ? name.slice(1) : name, isWild, port: port === undefined ? undefined : Number(port) }
}

const hasName = (rule: HostRule, host: string) => (rule.isWild ? host.endsWith(rule.name) : host === rule.name)
const hasPort = (rule: HostRule, port: number) => (rule.port === undefined ? WEB_PORTS.has(port) : rule.port === port)

/** Whether one of the patterns matches the host. */
export function matchesHost(patterns: readonly string[], { host, port }: { host: string; port: number }): boolean {
  return patterns.map(readRule).some((rule) => hasName(rule, host.toLowerCase()) && hasPort(rule, port))
}

/** Whether every host that `wanted` matches is matched by one of the patterns. */
export function coversHost(patterns: readonly string[], wanted: string): boolean {
  const { name, isWild, port } = readRule(wanted)
  return patterns.map(readRule).some((rule) => {
    const named = isWild ? rule.isWild && name.endsWith(rule.name) : hasName(rule, name)
    return named && (port === undefined ? rule.port === undefined : hasPort(rule, port))
  })
}
