/**
 * An OpenID Connect provider for tests: real HTTP, with discovery, keys, PKCE, a client secret and signed tokens. It checks what a
 * provider checks; what a test wants to be otherwise it says in `rules`.
 */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OidcRules {
  /** Who signs in there. */
  claims: Record<string, unknown>
  /** Written over what the token would say. */
  token: Record<string, unknown>
  /** Signed with a key that the provider does not publish. */
  foreignKey: boolean
  /** Not signed at all. */
  unsigned: boolean
  /** What discovery says, written over. */
  discovery: Record<string, unknown>
  /** What is said of who signs in at another address, not in the token. */
  userinfo: Record<string, unknown> | undefined
  /** The client says its secret in a header. */
  basic: boolean
  /** Nothing is answered but errors. */
  down: boolean
  /** The person says no. */
  denied: boolean
}

interface Code {
  challenge: string
  redirectUri: string
  nonce: string
}

const RULES: OidcRules = {
  claims: {},
  token: {},
  foreignKey: false,
  unsigned: false,
  discovery: {},
  down: false,
  denied: false,
  userinfo: undefined,
  basic: false,
}

export class OidcServer {
  readonly clientId = 'loadout'
  readonly clientSecret = `secret-${randomBytes(16).toString('hex')}`
  readonly rules: OidcRules = { ...RULES }
  readonly requests: string[] = []
  /** What the token endpoint refused, and why. */
  readonly refusals: string[] = []
  readonly #codes = new Map<string, Code>()
  readonly #key = newKey()
  readonly #foreign = newKey()
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error) => send(response, 500, { error: String(error) }))
    })
  }

  static async start(): Promise<OidcServer> {
    const server = new OidcServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer)
    this.requests.push(`${request.method} ${url.pathname}`)
    if (this.rules.down) return send(response, 503, { error: 'down' })
    if (url.pathname === '/.well-known/openid-configuration') return send(response, 200, this.#discovery())
    if (url.pathname === '/jwks') return send(response, 200, { keys: [jwkOf(this.#key.publicKey)] })
    if (url.pathname === '/authorize') return this.#authorize(url, response)
    if (url.pathname === '/token') return this.#token(request, response)
    if (url.pathname === '/userinfo' && request.headers.authorization?.startsWith('Bearer at-'))
      return send(response, 200, this.rules.userinfo ?? {})
    return send(response, 404, { error: 'not_found' })
  }

  #discovery() {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      ...(this.rules.userinfo ? { userinfo_endpoint: `${this.issuer}/userinfo` } : {}),
      ...(this.rules.basic ? { token_endpoint_auth_methods_supported: ['client_secret_basic'] } : {}),
      ...this.rules.discovery,
    }
  }

  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const challenge = searchParams.get('code_challenge') ?? ''
    const isGood =
      searchParams.get('client_id') === this.clientId &&
      searchParams.get('code_challenge_method') === 'S256' &&
      challenge !== '' &&
      searchParams.get('scope')?.split(' ').includes('openid')
    if (!isGood) {
      send(response, 400, { error: 'invalid_request' })
      return
    }
    back.searchParams.set('state', searchParams.get('state') ?? '')
    if (this.rules.denied) back.searchParams.set('error', 'access_denied')
    else {
      const code = randomBytes(16).toString('hex')
      this.#codes.set(code, {
        challenge,
        redirectUri: searchParams.get('redirect_uri') ?? '',
        nonce: searchParams.get('nonce') ?? '',
      })
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { location: back.href }).end()
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await textOf(request))
    const code = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const refuse = (why: string) => {
      this.refusals.push(why)
      send(response, 400, { error: 'invalid_grant' })
    }
    if (!code) return refuse('no such code')
    if (code.redirectUri !== form.get('redirect_uri')) return refuse('another redirect')
    if (verifier !== code.challenge) return refuse('another verifier')
    if (!this.#isClient(form, request.headers.authorization)) return refuse('another client')
    send(response, 200, {
      access_token: `at-${randomBytes(16).toString('hex')}`,
      token_type: 'Bearer',
      expires_in: 60,
      refresh_token: `rt-${randomBytes(16).toString('hex')}`,
      id_token: this.#idToken(code.nonce),
    })
  }

  #isClient(form: URLSearchParams, authorization: string | undefined): boolean {
    const basic = `Basic ${Buffer.from(`${this.clientId}:${this.clientSecret}`).toString('base64')}`
    if (this.rules.basic) return authorization === basic && !form.has('client_secret')
    return form.get('client_id') === this.clientId && form.get('client_secret') === this.clientSecret
  }

  #idToken(nonce: string): string {
    const now = Math.floor(Date.now() / 1000)
    const payload = {
      iss: this.issuer,
      aud: this.clientId,
      iat: now,
      exp: now + 300,
      nonce,
      sub: 'someone',
      ...this.rules.claims,
      ...this.rules.token,
    }
    const { foreignKey, unsigned } = this.rules
    const header = unsigned ? { alg: 'none' } : { alg: 'RS256', kid: 'one', typ: 'JWT' }
    const body = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    if (unsigned) return `${body}.`
    const { privateKey } = foreignKey ? this.#foreign : this.#key
    return `${body}.${createSign('RSA-SHA256').update(body).sign(privateKey).toString('base64url')}`
  }
}

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' })

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
