/** Unwraps `npx mcp-remote <url> …`: Loadout connects to the remote server directly, without the local proxy. */

import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'

const PACKAGE = /^(?:.*[\\/])?mcp-remote(?:@[^/\\]*)?(?:[\\/].*)?$/
const RUNNERS = /^(?:.*[\\/])?(npx|bunx|pnpx|pnpm|yarn|node|mcp-remote)(\.cmd|\.exe)?$/i
const WITH_VALUE = new Set(['--host', '--resource', '--auth-timeout', '--static-oauth-client-metadata'])

export interface Unwrapped {
  record: JsonObject
  warnings: string[]
}

/** The remote server, or undefined when the record starts another program. */
export function unwrapRemote(record: JsonObject): Unwrapped | undefined {
  const { command, args, env, ...rest } = record
  if (typeof command !== 'string' || !RUNNERS.test(command) || !isWords(args)) return undefined
  const words = [command, ...args]
  const at = words.findIndex((word) => PACKAGE.test(word))
  const url = words.slice(at + 1).find((word) => /^https?:\/\//i.test(word))
  if (at < 0 || url === undefined || words.slice(1, at).some((word) => !/^(-y|--yes|dlx|exec|-g)$/.test(word)))
    return undefined
  const options = optionsOf(words.slice(at + 1).filter((word) => word !== url))
  const own = isObject(env) ? env : {}
  const headers = Object.fromEntries(Object.entries(options.headers).map(([name, text]) => [name, filled(text, own)]))
  return {
    record: {
      ...rest,
      url,
      ...(options.transport?.startsWith('sse') ? { type: 'sse' } : {}),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(options.oauth ? { oauth: options.oauth } : {}),
      ...(options.excluded.length > 0 ? { exclude: options.excluded } : {}),
    },
    warnings: [
      '"mcp-remote" is not started: Loadout connects to the server itself',
      ...options.unread.map((word) => `"${word.slice(0, 80)}" of mcp-remote was ignored`),
    ],
  }
}

interface Options {
  headers: Record<string, string>
  transport?: string
  oauth?: JsonObject
  excluded: string[]
  unread: string[]
}

function optionsOf(words: readonly string[]): Options {
  const options: Options = { headers: {}, excluded: [], unread: [] }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    const value = words[at + 1] ?? ''
    if (word === '--header') addHeader(options.headers, value)
    else if (word === '--transport') options.transport = value
    else if (word === '--ignore-tool') options.excluded.push(value)
    else if (word === '--static-oauth-client-info') readClient(options, value)
    else {
      // A bare number is the callback port.
      if (!/^\d+$/.test(word)) options.unread.push(word)
      if (WITH_VALUE.has(word)) at++
      continue
    }
    at++
  }
  return options
}

function addHeader(headers: Record<string, string>, text: string): void {
  const at = text.indexOf(':')
  if (at > 0) headers[text.slice(0, at).trim()] = text.slice(at + 1).trim()
}

function readClient(options: Options, text: string): void {
  try {
    const { client_id: clientId, client_secret: clientSecret } = JSON.parse(text) as Record<string, unknown>
    if (typeof clientId === 'string')
      options.oauth = { clientId, ...(typeof clientSecret === 'string' ? { clientSecret } : {}) }
  } catch {
    options.unread.push('--static-oauth-client-info')
  }
}

/** `${X}` in a header comes from the `env` of the same entry. */
const filled = (text: string, env: Record<string, unknown>) =>
  text.replaceAll(/\$\{(\w+)\}/g, (raw, name: string) =>
    Object.hasOwn(env, name) && typeof env[name] === 'string' ? env[name] : raw,
  )

const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string')
