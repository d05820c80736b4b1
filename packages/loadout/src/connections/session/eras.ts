/**
 * Which protocol era a server is spoken to in. 2026-07-28 has no requests from server to client: a server that asks its user
 * something in that way fails there, and works in the older era.
 */
import { ProtocolError } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { HostError } from '../../errors.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { ConnectionTarget, EraVerdict, ServerInfo, ToolResult } from '../connection.ts'
import { fingerprintOf } from '../connection-key.ts'
import { sanitizeText } from '../errors.ts'

const NO_BACK_CHANNEL = /\bno back-?channel\b/i
/** Requests of a server that need a back-channel. */
const BACK_CHANNEL = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])
const REMEMBERED = 10_000

export const needsBackChannel = (method: string) => BACK_CHANNEL.has(method)

/** The cause of a failure that the other era would not have. */
class NeedsBackChannel extends Error {}

export const isBackChannelMissing = (error: unknown): error is HostError =>
  HostError.is(error) && error.cause instanceof NeedsBackChannel

/** A call that failed because the server could not ask its user, in the server's own words. */
export function withoutBackChannel(words: string): HostError {
  return new HostError('refused-by-server', {
    detail: sanitizeText(words),
    action: HOW,
    cause: new NeedsBackChannel(words),
  })
}

/** The words of a result or a refusal that says so; undefined where it does not. */
export function backChannelWords(outcome: ToolResult | unknown): string | undefined {
  const words = outcome instanceof Error ? wordsOf(outcome) : textOf(outcome as ToolResult)
  return NO_BACK_CHANNEL.test(words) ? words : undefined
}

const wordsOf = (error: Error) =>
  HostError.is(error) && error.cause instanceof ProtocolError ? error.cause.message : error.message

const textOf = ({ isError, content }: ToolResult) =>
  isError ? content.map(({ text }) => (typeof text === 'string' ? text.slice(0, 2000) : '')).join(' ') : ''

const HOW = 'Set `protocol` of the toolkit to `auto` or `legacy`.'

/** What a record that names one era says to a server that does not speak it. */
export function otherEraOnly(error: unknown, only: EraVerdict['era']): unknown {
  const isRefusal = error instanceof ProtocolError || (HostError.is(error) && error.cause instanceof ProtocolError)
  if (!isRefusal && !(HostError.is(error) && error.code === 'protocol-error')) return error
  return new HostError('protocol-error', {
    detail: `The server refuses the ${only === 'legacy' ? 'older protocol' : 'protocol 2026-07-28'} (\`protocol: "${only}"\`).`,
    action: 'Set `protocol` of the toolkit to `auto`.',
    cause: error,
  })
}

/** Eras by server: what negotiation found, and which servers work only in the older one, each with the version that showed it. */
export class Eras {
  readonly #verdicts = new LRUCache<string, EraVerdict>({ max: REMEMBERED })
  readonly #legacy = new LRUCache<string, { version: string }>({ max: REMEMBERED })

  /** How to connect: as the record says, else as was remembered. */
  resolve(stored: StoredToolkit): Pick<ConnectionTarget, 'verdict' | 'only'> {
    const { protocol = 'auto' } = stored.toolkit
    const verdict = this.isLegacy(stored) ? { era: 'legacy' as const } : this.#verdicts.get(fingerprintOf(stored))
    if (protocol === 'auto') return { verdict }
    if (protocol === 'modern') return { only: protocol, verdict: verdict?.era === 'modern' ? verdict : undefined }
    return { only: protocol, verdict: verdict?.era === 'legacy' ? verdict : { era: 'legacy' } }
  }

  /** Whether the server needs a back-channel, as a call showed. */
  isLegacy(stored: StoredToolkit): boolean {
    return (stored.toolkit.protocol ?? 'auto') === 'auto' && this.#legacy.has(fingerprintOf(stored))
  }

  connected(stored: StoredToolkit, { verdict, info }: { verdict: EraVerdict; info: ServerInfo }): void {
    const key = fingerprintOf(stored)
    this.#verdicts.set(key, verdict)
    const fallback = this.#legacy.get(key)
    if (!fallback) return
    const { version = '' } = info
    const isOther = fallback.version !== '' && version !== '' && fallback.version !== version
    // Another version may do without; one that refuses the older era has no other.
    if (isOther || verdict.era === 'modern') this.#legacy.delete(key)
    else this.#legacy.set(key, { version: version || fallback.version })
  }

  forget(stored: StoredToolkit): void {
    this.#verdicts.delete(fingerprintOf(stored))
  }

  /** The connection failed in the era that was remembered. */
  failed(stored: StoredToolkit): void {
    this.forget(stored)
    this.#legacy.delete(fingerprintOf(stored))
  }

  /** Whether the next connection is of the older era; not where the record names its era, or it is of that era already. */
  fallBack(stored: StoredToolkit, { era, version = '' }: ServerInfo): boolean {
    if ((stored.toolkit.protocol ?? 'auto') !== 'auto' || era === 'legacy') return false
    this.#legacy.set(fingerprintOf(stored), { version })
    return true
  }
}

/** What the caller reads where the call is not repeated: it may have done part of its work, or the record names the era. */
export function explainEra(error: HostError, fellBack: boolean): HostError {
  const action = fellBack
    ? 'Loadout now connects to it in the older protocol: make the call again, after you checked what the first one did.'
    : HOW
  const why = 'The server needs a back-channel, which protocol 2026-07-28 does not have.'
  return new HostError('refused-by-server', { detail: `${error.message} ${why} ${action}`, action, cause: error.cause })
}

export const FELL_BACK = {
  level: 'warning' as const,
  logger: 'loadout',
  text: 'The server needs a back-channel, so Loadout connects to it in the older protocol era. Set `protocol` of the toolkit to choose.',
}
