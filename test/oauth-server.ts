/**
 * An MCP server that wants a sign-in, and its authorization server, for tests: both real HTTP on one port, with PKCE,
 * registration, rotating refresh tokens and revocation. What a test wants to be otherwise it says in `rules`.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type OAuthRules, RULES } from './oauth-rules.ts'

export type { OAuthRules } from './oauth-rules.ts'

const CLIENT_SECRET = 'secret-of-the-registered-client'

interface Message {
  id?: number
  method: string
  params?: { arguments?: { asked?: string } }
}

interface Token {
  sub: string
  scope: string
  expiresAt: number
  clientId: string
}

export class OAuthServer {
  readonly rules: OAuthRules
  readonly counts = { registered: 0, authorized: 0, exchanged: 0, refreshed: 0, reused: 0, revoked: 0, refused: 0 }
  /** Calls that came through, with whose token. */
  readonly calls: Array<{ sub: string; asked: string }> = []
  /** Every request, as `METHOD /path`. */
  readonly requests: string[] = []
  /** What the token endpoint was shown beside codes and tokens: secrets of clients, assertions. */
  readonly shown: string[] = []
  readonly #server: Server
  readonly #codes = new Map<string, { challenge: string; redirectUri: string; token: Omit<Token, 'expiresAt'> }>()
  readonly #access = new Map<string, Token>()
  readonly #refresh = new Map<string, Omit<Token, 'expiresAt'>>()
  readonly #used = new Set<string>()

  private constructor(rules: Partial<OAuthRules>) {
    this.rules = { ...RULES, ...rules }
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error) => send(response, 500, { error: String(error) }))
    })
  }

  static async start(rules: Partial<OAuthRules> = {}, address = '127.0.0.1'): Promise<OAuthServer> {
    const server = new OAuthServer(rules)
    await new Promise<void>((resolve) => server.#server.listen(0, address, resolve))
    return server
  }

  get base(): string {
    if (this.rules.at !== undefined) return this.rules.at
    const { address, port } = this.#server.address() as AddressInfo
    return `http://${address}:${port}`
  }

  get url(): string {
    return `${this.base}/mcp`
  }

  /** Every access token ends now. */
  expire(): void {
    for (const token of this.#access.values()) token.expiresAt = 0
  }

  /** Nobody is signed in any more. */
  forget(): void {
    this.#access.clear()
    this.#refresh.clear()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.base)
    const body = await textOf(request)
    const issuer = this.rules.issuer ?? this.base
    this.requests.push(`${request.method} ${url.pathname}`)
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) return this.#resource(response)
    if (url.pathname.startsWith('/.well-known/oauth-authorization-server'))
      return send(response, 200, this.#metadata(issuer))
    if (url.pathname === '/register') return this.#register(response, body)
    if (url.pathname === '/authorize') return this.#authorize(url, response, issuer)
    if (url.pathname === '/token') return this.#token(request, response, new URLSearchParams(body))
    if (url.pathname === '/revoke') return this.#revoke(request, response, new URLSearchParams(body))
    if (url.pathname === '/mcp') return this.#mcp(request, response, body)
    return send(response, 404, { error: 'not_found' })
  }

  #resource(response: ServerResponse): void {
    const { metadataRedirect: location, authorizationServers = [this.base] } = this.rules
    if (location !== undefined) response.writeHead(302, { location }).end()
    else send(response, 200, { resource: this.url, authorization_servers: authorizationServers })
  }

  #metadata(issuer: string) {
    const { register, registrationEndpoint, authorizationEndpoint } = this.rules
    return {
      issuer,
      authorization_endpoint: authorizationEndpoint ?? `${this.base}/authorize`,
      token_endpoint: `${this.base}/token`,
      revocation_endpoint: `${this.base}/revoke`,
      ...(register ? { registration_endpoint: registrationEndpoint ?? `${this.base}/register` } : {}),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  #register(response: ServerResponse, body: string): void {
    this.counts.registered++
    send(response, 201, {
      ...JSON.parse(body),
      client_id: `client-${this.counts.registered}`,
      token_endpoint_auth_method: this.rules.clientAuth,
      ...(this.rules.clientAuth === 'none' ? {} : { client_secret: CLIENT_SECRET }),
    })
  }

  /** Who signs in is said by `login`, which a test adds to the link as a person would type a name. */
  #authorize(url: URL, response: ServerResponse, issuer: string): void {
    this.counts.authorized++
    const query = url.searchParams
    const redirectUri = query.get('redirect_uri') ?? ''
    const code = randomBytes(16).toString('hex')
    this.#codes.set(code, {
      challenge: query.get('code_challenge') ?? '',
      redirectUri,
      token: {
        sub: query.get('login') ?? 'somebody',
        scope: query.get('scope') ?? '',
        clientId: query.get('client_id') ?? '',
      },
    })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', query.get('state') ?? '')
    back.searchParams.set('iss', this.rules.iss ?? issuer)
    response.writeHead(302, { location: back.href }).end()
  }

  async #token(request: IncomingMessage, response: ServerResponse, params: URLSearchParams): Promise<void> {
    const grant = params.get('grant_type')
    const secrets = [basicOf(request).join(':'), params.get('client_secret'), params.get('assertion')]
    this.shown.push(...secrets.filter((secret): secret is string => Boolean(secret)))
    if (grant === 'refresh_token') return this.#renew(response, params.get('refresh_token') ?? '')
    if (grant === 'client_credentials') {
      this.counts.exchanged++
      const [clientId = '', secret = ''] = basicOf(request)
      if (secret !== 'machine-secret') return send(response, 401, { error: 'invalid_client' })
      return this.#give(response, { sub: clientId, scope: params.get('scope') ?? '', clientId }, false)
    }
    this.counts.exchanged++
    const code = params.get('code') ?? ''
    const issued = this.#codes.get(code)
    this.#codes.delete(code)
    const proof = createHash('sha256')
      .update(params.get('code_verifier') ?? '')
      .digest('base64url')
    if (!issued || issued.challenge !== proof || issued.redirectUri !== params.get('redirect_uri'))
      return send(response, 400, { error: 'invalid_grant' })
    this.#give(response, issued.token, this.rules.refresh)
  }

  async #renew(response: ServerResponse, token: string): Promise<void> {
    const { refreshError, refreshMs } = this.rules
    if (refreshMs > 0) await new Promise((resolve) => setTimeout(resolve, refreshMs))
    this.counts.refreshed++
    if (refreshError) return send(response, refreshError.status, { error: refreshError.error })
    const issued = this.#refresh.get(token)
    if (this.#used.has(token)) {
      // A token that is shown twice was stolen: nobody of its family is believed any more.
      this.counts.reused++
      this.forget()
    }
    if (!issued) return send(response, 400, { error: 'invalid_grant', error_description: '<script>alert(1)</script>' })
    this.#refresh.delete(token)
    this.#used.add(token)
    const { answerMs } = this.rules
    if (answerMs > 0) await new Promise((resolve) => setTimeout(resolve, answerMs))
    this.#give(response, issued, true)
  }

  #give(response: ServerResponse, token: Omit<Token, 'expiresAt'>, withRefresh: boolean): void {
    const { expiresIn } = this.rules
    const access = `access-${token.sub}-${randomBytes(12).toString('hex')}`
    this.#access.set(access, { ...token, expiresAt: Date.now() + (expiresIn ?? 86_400) * 1000 })
    const refresh = `refresh-${token.sub}-${randomBytes(12).toString('hex')}`
    if (withRefresh) this.#refresh.set(refresh, token)
    send(response, 200, {
      access_token: access,
      token_type: 'Bearer',
      ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
      ...(token.scope === '' ? {} : { scope: token.scope }),
      ...(withRefresh ? { refresh_token: refresh } : {}),
    })
  }

  #revoke(request: IncomingMessage, response: ServerResponse, params: URLSearchParams): void {
    if (!this.#isClient(request, params)) return void send(response, 401, { error: 'invalid_client' })
    this.counts.revoked++
    const token = params.get('token') ?? ''
    this.#access.delete(token)
    this.#refresh.delete(token)
    response.writeHead(200).end()
  }

  /** Whether the client authenticates exactly as it was registered to. */
  #isClient(request: IncomingMessage, params: URLSearchParams): boolean {
    const { clientAuth } = this.rules
    const shown = { basic: basicOf(request)[1], post: params.get('client_secret') ?? undefined }
    if (clientAuth === 'client_secret_basic') return shown.basic === CLIENT_SECRET && shown.post === undefined
    if (clientAuth === 'client_secret_post') return shown.post === CLIENT_SECRET && shown.basic === undefined
    return true
  }

  #mcp(request: IncomingMessage, response: ServerResponse, body: string): void {
    const token = this.#access.get((request.headers.authorization ?? '').replace(/^Bearer /, ''))
    const metadata = `resource_metadata="${this.base}/.well-known/oauth-protected-resource/mcp"`
    const { callScope } = this.rules
    const message = JSON.parse(body || '{}') as Message
    const isCall = message.method === 'tools/call'
    if (!token || token.expiresAt <= Date.now()) {
      this.counts.refused++
      challenge(response, 401, metadata)
    } else if (request.method !== 'POST') send(response, 405, {})
    else if (isCall && callScope && !token.scope.split(' ').includes(callScope))
      challenge(response, 403, `error="insufficient_scope", scope="${callScope}", ${metadata}`)
    else if (message.id === undefined) response.writeHead(202).end()
    else if (isCall && this.rules.tells)
      send(response, 200, {
        jsonrpc: '2.0',
        id: message.id,
        error: { code: -32_000, message: `no: ${request.headers.authorization}` },
      })
    else send(response, 200, { jsonrpc: '2.0', id: message.id, ...this.#answer(message, token) })
  }

  #answer({ method, params }: Message, { sub }: Token) {
    if (method === 'initialize')
      return {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'oauth', version: '1.0.0' },
        },
      }
    if (method === 'tools/list')
      return {
        result: {
          tools: [
            {
              name: 'whoami',
              description: 'Says whose token this is.',
              inputSchema: { type: 'object', properties: { asked: { type: 'string' } } },
              annotations: { readOnlyHint: true },
            },
            ...(this.rules.personal ? [{ name: `inbox_of_${sub}`, inputSchema: { type: 'object' } }] : []),
          ],
        },
      }
    if (method !== 'tools/call') return { error: { code: -32_601, message: 'Method not found' } }
    const asked = params?.arguments?.asked ?? ''
    this.calls.push({ sub, asked })
    return { result: { content: [{ type: 'text', text: `${sub} ${asked}`.trim() }] } }
  }
}

/** What a person does with a link: signs in, and is sent back. Gives the address that they are sent back to. */
export async function follow(link: string, login?: string): Promise<URL> {
  const url = new URL(link)
  if (login !== undefined) url.searchParams.set('login', login)
  const response = await fetch(url, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location === null) throw new Error(`The authorization server answered ${response.status}.`)
  return new URL(location)
}

export const callbackOf = ({ searchParams }: URL) => ({
  state: searchParams.get('state') ?? '',
  code: searchParams.get('code') ?? undefined,
  iss: searchParams.get('iss') ?? undefined,
  error: searchParams.get('error') ?? undefined,
})

function basicOf({ headers }: IncomingMessage): string[] {
  const text = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
  return text.split(':').map(decodeURIComponent)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function challenge(response: ServerResponse, status: 401 | 403, how: string): void {
  response.setHeader('www-authenticate', `Bearer ${how}`)
  send(response, status, {})
}
