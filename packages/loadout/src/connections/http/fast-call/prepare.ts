/**
 * Selects requests for the fast path and builds their headers: those that the SDK's transport sends, plus the server's
 * secrets. Posts go to the server's own URL and follow no redirect, so secrets reach no other origin.
 */
import { type JSONRPCRequest, PROTOCOL_VERSION_META_KEY, type TransportSendOptions } from '@modelcontextprotocol/client'
import type { PostFn, PreparePost } from './contract.ts'

const METHOD = 'tools/call'
/** Names that need no header encoding. The SDK handles all others. */
const PLAIN_NAME = /^[\w./:-]+$/
const NO_HEADERS: readonly string[] = []

/** Header values that all requests of a session share. */
interface Common {
  sessionId: string | undefined
  version: string | undefined
  isModern: boolean
}

export interface PreparedPost {
  post: PostFn
  /** Headers of this request only; names and values alternate. */
  headers: readonly string[]
}

export class FastCalls {
  readonly #url: URL
  readonly #preparePost: PreparePost
  readonly #secrets: [string, string][]
  #post: PostFn | undefined
  #common: Common | undefined

  constructor(url: URL, preparePost: PreparePost, secrets: Readonly<Record<string, string>>) {
    this.#url = url
    this.#preparePost = preparePost
    this.#secrets = Object.entries(secrets)
  }

  /** Returns undefined if the request needs the SDK's transport. */
  prepare(
    request: JSONRPCRequest,
    session: { sessionId: string | undefined; protocolVersion: string | undefined },
  ): PreparedPost | undefined {
    if (request.method !== METHOD) return undefined
    const name = request.params?.name
    const claimed = request.params?._meta?.[PROTOCOL_VERSION_META_KEY]
    const isModern = typeof claimed === 'string'
    if (isModern && !(typeof name === 'string' && PLAIN_NAME.test(name))) return undefined
    const { sessionId, protocolVersion } = session
    const post = this.#postFor({ sessionId, version: isModern ? claimed : protocolVersion, isModern })
    return { post, headers: isModern ? ['mcp-name', String(name)] : NO_HEADERS }
  }

  #postFor(common: Common): PostFn {
    const { sessionId, version, isModern } = common
    const current = this.#common
    if (
      this.#post &&
      current &&
      current.sessionId === sessionId &&
      current.version === version &&
      current.isModern === isModern
    )
      return this.#post
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' })
    if (sessionId) headers.set('mcp-session-id', sessionId)
    if (version) headers.set('mcp-protocol-version', version)
    if (isModern) headers.set('mcp-method', METHOD)
    for (const [header, value] of this.#secrets) if (!headers.has(header)) headers.set(header, value)
    // `mcp-name` differs for each request.
    if (isModern) headers.delete('mcp-name')
    this.#post = this.#preparePost(this.#url, headers)
    this.#common = common
    return this.#post
  }
}

/** Whether the options need nothing that only the SDK's transport offers. */
export function isFastCall(options: TransportSendOptions | undefined): boolean {
  if (options === undefined) return true
  const { headers, resumptionToken, onresumptiontoken, onRequestStreamEnd } = options
  return (
    resumptionToken === undefined &&
    onresumptiontoken === undefined &&
    onRequestStreamEnd === undefined &&
    (headers === undefined || Object.keys(headers).length === 0)
  )
}
