/**
 * Selects the protocol era of a server. 2026-07-28 has no requests from server to client, so a server that elicits that
 * way fails there and works in the older era.
 */
import { LRUCache } from 'lru-cache'
import { HostError } from '../../errors.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import { type RememberedEra, rememberedEra } from '../../schema/toolkit/catalog.ts'
import type { Storage } from '../../storage/storage.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { ConnectionTarget, EraVerdict, ServerInfo, ToolResult } from '../connection.ts'
import { serverFingerprint } from '../connection-key.ts'
import { isProtocolError, sanitizeText } from '../errors.ts'

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
  HostError.is(error) && isProtocolError(error.cause) ? error.cause.message : error.message

const textOf = ({ isError, content }: ToolResult) =>
  isError ? content.map(({ text }) => (typeof text === 'string' ? text.slice(0, 2000) : '')).join(' ') : ''

const HOW = 'Set `protocol` of the toolkit to `auto` or `legacy`.'

/** Error for a server that rejects the only era that the record allows. */
export function otherEraOnly(error: unknown, only: EraVerdict['era']): unknown {
  const isRefusal = isProtocolError(error) || (HostError.is(error) && isProtocolError(error.cause))
  if (!isRefusal && !(HostError.is(error) && error.code === 'protocol-error')) return error
  return new HostError('protocol-error', {
    detail: `The server refuses the ${only === 'legacy' ? 'older protocol' : 'protocol 2026-07-28'} (\`protocol: "${only}"\`).`,
    action: 'Set `protocol` of the toolkit to `auto`.',
    cause: error,
  })
}

type Fallback = Omit<RememberedEra, 'recordAt'>

/**
 * Eras by server: what negotiation found, and which servers are spoken to in the older one, each with the version that showed
 * it. The older era is kept with the record, so that a restart and other processes do not probe again.
 */
export class Eras {
  readonly #verdicts = new LRUCache<string, EraVerdict>({ max: REMEMBERED })
  /** `none`: what the record remembers no longer holds; `unsure`: it is probed again, and stays stored until then. */
  readonly #legacy = new LRUCache<string, Fallback | 'none' | 'unsure'>({ max: REMEMBERED })
  readonly #saved = new LRUCache<string, string>({ max: REMEMBERED })

  /** Connect options: the record's era, otherwise the cached one. */
  resolve(stored: StoredToolkit): Pick<ConnectionTarget, 'verdict' | 'only'> {
    const { protocol = 'auto' } = stored.toolkit
    const fallback = protocol === 'auto' ? this.#fallbackOf(stored) : undefined
    const verdict = fallback ? legacyVerdict(fallback) : this.#verdicts.get(serverFingerprint(stored))
    if (protocol === 'auto') return { verdict }
    if (protocol === 'modern') return { only: protocol, verdict: verdict?.era === 'modern' ? verdict : undefined }
    return { only: protocol, verdict: verdict?.era === 'legacy' ? verdict : { era: 'legacy' } }
  }

  /** Whether a call showed that the server needs a back-channel. */
  isLegacy(stored: StoredToolkit): boolean {
    return isAuto(stored) && this.#fallbackOf(stored)?.cause === 'back-channel'
  }

  connected(stored: StoredToolkit, { verdict, info }: { verdict: EraVerdict | undefined; info: ServerInfo }): void {
    // A driver of the app may report no era.
    if (verdict === undefined) return
    const key = serverFingerprint(stored)
    const { version = '' } = info
    const fallback = this.#fallbackOf(stored)
    const isOther = fallback !== undefined && isOtherVersion(fallback.version, version)
    this.#verdicts.set(key, verdict)
    // Another version may do without; one that refuses the older era has no other.
    if (isOther || verdict.era === 'modern') {
      this.#legacy.set(key, 'none')
      if (isOther) this.#verdicts.delete(key)
    } else if (isAuto(stored)) this.#legacy.set(key, this.#next(stored, { verdict, version }))
  }

  #next(
    stored: StoredToolkit,
    { verdict, version }: { verdict: Extract<EraVerdict, { era: 'legacy' }>; version: string },
  ): Fallback {
    const before = this.#fallbackOf(stored) ?? rememberedIn(stored)
    const cause = before && !isOtherVersion(before.version, version) ? before.cause : 'negotiated'
    const { transport } = verdict
    return { version: version || (before?.version ?? ''), cause, ...(transport === undefined ? {} : { transport }) }
  }

  forget(stored: StoredToolkit): void {
    this.#verdicts.delete(serverFingerprint(stored))
  }

  /** The connection failed in the era that was remembered. A server that was only away may still need a back-channel. */
  failed(stored: StoredToolkit, error: unknown): void {
    this.forget(stored)
    if (isProtocolFailure(error)) this.#legacy.set(serverFingerprint(stored), 'none')
    else if (!this.isLegacy(stored)) this.#legacy.set(serverFingerprint(stored), 'unsure')
  }

  /** Whether the next connection uses the older era; false if the record sets the era or it is already in use. */
  fallBack(stored: StoredToolkit, { era, version = '' }: ServerInfo): boolean {
    if (!isAuto(stored) || era === 'legacy') return false
    this.#legacy.set(serverFingerprint(stored), { version, cause: 'back-channel' })
    return true
  }

  /** What is to be stored with the record now, null where nothing is; undefined where it is stored already. */
  unsaved(stored: StoredToolkit): RememberedEra | null | undefined {
    const key = serverFingerprint(stored)
    const known = this.#legacy.get(key)
    if (stored.ephemeral || known === undefined || known === 'unsure' || !isAuto(stored)) return undefined
    const era = known === 'none' ? null : { recordAt: stored.row.updatedAt.getTime(), ...known }
    const text = JSON.stringify(era)
    const before = this.#saved.get(key) ?? JSON.stringify(stored.row.eraJson ? rememberedIn(stored) : null)
    this.#saved.set(key, text)
    return text === before ? undefined : era
  }

  #fallbackOf(stored: StoredToolkit): Fallback | undefined {
    const known = this.#legacy.get(serverFingerprint(stored))
    return known === 'none' || known === 'unsure' ? undefined : (known ?? rememberedIn(stored))
  }
}

const isAuto = ({ toolkit }: StoredToolkit) => (toolkit.protocol ?? 'auto') === 'auto'

const isOtherVersion = (before: string, now: string) => before !== '' && now !== '' && before !== now

const legacyVerdict = ({ transport }: Fallback): EraVerdict => ({
  era: 'legacy',
  ...(transport === undefined ? {} : { transport }),
})

/** A changed record has forgotten its era. */
function rememberedIn({ row }: StoredToolkit): RememberedEra | undefined {
  const era = row.eraJson ? rememberedEra.safeParse(row.eraJson).data : undefined
  return era?.recordAt === row.updatedAt.getTime() ? era : undefined
}

const isProtocolFailure = (error: unknown) =>
  isProtocolError(error) || (HostError.is(error) && (error.code === 'protocol-error' || isProtocolError(error.cause)))

/** Stores an era with its record, unless the record was changed meanwhile. */
export async function storeEra(storage: Storage, stored: StoredToolkit, era: RememberedEra | null): Promise<void> {
  const { userId, uscoId, row } = stored
  const caller = userId === APP_OWNER ? 'app-config' : 'introspection'
  await storage.transaction({ caller, userId }, (tx) =>
    tx.update('userServerConfigs', uscoId, { set: { eraJson: era }, where: { updatedAt: row.updatedAt } }),
  )
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
