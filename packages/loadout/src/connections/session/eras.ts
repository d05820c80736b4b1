/**
 * Selects the protocol era of a server. 2026-07-28 has no requests from server to client, so a server that elicits that
 * way fails there and works in the older era.
 */
import { ProtocolError } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { HostError } from '../../errors.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { ConnectionTarget, EraVerdict, ServerInfo, ToolResult } from '../connection.ts'
import { fingerprintOf } from '../connection-key.ts'
import { sanitizeText } from '../errors.ts'

const NO_BACK_CHANNEL = /\bno back-?channel\b/i
/** Server requests that need a back-channel. */
const BACK_CHANNEL = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])
const REMEMBERED = 10_000

export const needsBackChannel = (method: string) => BACK_CHANNEL.has(method)

/** Cause of a failure that the older era would not have. */
class NeedsBackChannel extends Error {}

export const isBackChannelMissing = (error: unknown): error is HostError =>
  HostError.is(error) && error.cause instanceof NeedsBackChannel

/** Error for a call in which the server could not ask its user, with the server's message. */
export function withoutBackChannel(words: string): HostError {
  return new HostError('refused-by-server', {
    detail: sanitizeText(words),
    action: HOW,
    cause: new NeedsBackChannel(words),
  })
}

/** The message of a result or refusal that reports a missing back-channel; otherwise undefined. */
export function backChannelWords(outcome: ToolResult | unknown): string | undefined {
  const words = outcome instanceof Error ? wordsOf(outcome) : textOf(outcome as ToolResult)
  return NO_BACK_CHANNEL.test(words) ? words : undefined
}

const wordsOf = (error: Error) =>
  HostError.is(error) && error.cause instanceof ProtocolError ? error.cause.message : error.message

const textOf = ({ isError, content }: ToolResult) =>
  isError ? content.map(({ text }) => (typeof text === 'string' ? text.slice(0, 2000) : '')).join(' ') : ''

const HOW = 'Set `protocol` of the toolkit to `auto` or `legacy`.'

/** Error for a server that rejects the only era that the record allows. */
export function otherEraOnly(error: unknown, only: EraVerdict['era']): unknown {
  const isRefusal = error instanceof ProtocolError || (HostError.is(error) && error.cause instanceof ProtocolError)
  if (!isRefusal && !(HostError.is(error) && error.code === 'protocol-error')) return error
  return new HostError('protocol-error', {
    detail: `The server refuses the ${only === 'legacy' ? 'older protocol' : 'protocol 2026-07-28'} (\`protocol: "${only}"\`).`,
    action: 'Set `protocol` of the toolkit to `auto`.',
    cause: error,
  })
}

/** Eras by server: the negotiated one, and servers that need the older era with the version that showed it. */
export class Eras {
  readonly #verdicts = new LRUCache<string, EraVerdict>({ max: REMEMBERED })
  readonly #legacy = new LRUCache<string, { version: string }>({ max: REMEMBERED })

  /** Connect options: the record's era, otherwise the cached one. */
  resolve(stored: StoredToolkit): Pick<ConnectionTarget, 'verdict' | 'only'> {
    const { protocol = 'auto' } = stored.toolkit
    const verdict = this.isLegacy(stored) ? { era: 'legacy' as const } : this.#verdicts.get(fingerprintOf(stored))
    if (protocol === 'auto') return { verdict }
    if (protocol === 'modern') return { only: protocol, verdict: verdict?.era === 'modern' ? verdict : undefined }
    return { only: protocol, verdict: verdict?.era === 'legacy' ? verdict : { era: 'legacy' } }
  }

  /** Whether a call showed that the server needs a back-channel. */
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
    // Another version may not need it; a server that refuses the older era cannot use it.
    if (isOther || verdict.era === 'modern') this.#legacy.delete(key)
    else this.#legacy.set(key, { version: version || fallback.version })
  }

  forget(stored: StoredToolkit): void {
    this.#verdicts.delete(fingerprintOf(stored))
  }

  /** The connection failed in the cached era. */
  failed(stored: StoredToolkit): void {
    this.forget(stored)
    this.#legacy.delete(fingerprintOf(stored))
  }

  /** Whether the next connection uses the older era; false if the record sets the era or it is already in use. */
  fallBack(stored: StoredToolkit, { era, version = '' }: ServerInfo): boolean {
    if ((stored.toolkit.protocol ?? 'auto') !== 'auto' || era === 'legacy') return false
    this.#legacy.set(fingerprintOf(stored), { version })
    return true
  }
}

/** Error for a call that is not repeated, because it may have had effects or the record sets the era. */
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
