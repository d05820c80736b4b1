/**
 * Extracts the secrets of a server record and leaves `${secret:field}` placeholders, so that stored, shown and logged
 * records contain none. Environment, header and template values and the secrets of custom toolkits always count;
 * arguments and URL parts count when they look secret. A placeholder in the input keeps the stored secret, and only in
 * its own field. With inline secrets (an import), placeholders refer only to those.
 */
import { HostError } from '../../errors.ts'
import type { Auth, CustomServer, RemoteServer, Server, StdioServer } from '../../schema/toolkit/server.ts'
import { isSecretName, looksSecret } from './looks-secret.ts'
import { maskUrl, PLACEHOLDER } from './url-secrets.ts'

export interface TakenSecrets {
  server: Server
  /** New secrets by field. */
  secrets: Record<string, string>
  /** Fields whose stored secret is retained. Fields in neither list are cleared. */
  retained: string[]
}

/** With `inlineSecrets`, placeholders refer to these and never to stored secrets. */
export function takeSecrets(
  server: Server,
  stored: readonly string[],
  inlineSecrets?: Readonly<Record<string, string>>,
): TakenSecrets {
  const extractor = new SecretExtractor(stored, inlineSecrets)
  return { server: extractor.server(server), secrets: extractor.secrets, retained: extractor.retained }
}

/** Puts the secrets back into the record, for a connection. */
export function fillSecrets(server: Server, secrets: Readonly<Record<string, string>>): Server {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(PLACEHOLDER, (_, field: string) => requireSecret(secrets, field))
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]))
  }
  // Code is not filled: a placeholder-like text there belongs to the code.
  if (server.type === 'custom') return server.secrets ? { ...server, secrets: fill(server.secrets) as Pairs } : server
  return fill(server) as Server
}

type Pairs = Record<string, string>

function requireSecret(secrets: Readonly<Record<string, string>>, field: string): string {
  if (Object.hasOwn(secrets, field)) return secrets[field] as string
  throw new HostError('secret-missing', { detail: `The secret "${field}" is not stored.` })
}

const OAUTH_SECRETS = ['clientSecret', 'privateKey', 'assertion', 'idpClientSecret', 'idToken'] as const

class SecretExtractor {
  readonly secrets: Record<string, string> = {}
  readonly retained: string[] = []
  readonly #stored: ReadonlySet<string>
  readonly #inlineSecrets: Readonly<Record<string, string>> | undefined
  #next = 0

  constructor(stored: readonly string[], inlineSecrets?: Readonly<Record<string, string>>) {
    this.#stored = new Set(stored)
    this.#inlineSecrets = inlineSecrets
  }

  server(server: Server): Server {
    if (server.type === 'custom') return this.#custom(server)
    return server.type === 'stdio' ? this.#stdio(server) : this.#remote(server)
  }

  #stdio(server: StdioServer): StdioServer {
    return {
      ...server,
      env: this.#record('env', server.env),
      ...(server.values === undefined ? {} : { values: this.#record('values', server.values) }),
      args: server.args.map((arg, index) => this.#argument(arg, server.args[index - 1])),
    }
  }

  #custom(server: CustomServer): CustomServer {
    return server.secrets === undefined ? server : { ...server, secrets: this.#record('secrets', server.secrets) }
  }

  #remote(server: RemoteServer): RemoteServer {
    return {
      ...server,
      url: this.#url(server.url),
      headers: this.#record('headers', server.headers),
      auth: this.#auth(server.auth),
    }
  }

  #auth(auth: Auth): Auth {
    switch (auth.type) {
      case 'none':
        return auth
      case 'bearer':
        return { ...auth, token: this.#replaceWhole('auth.token', auth.token) }
      case 'headers':
        return { ...auth, headers: this.#record('auth.headers', auth.headers) }
      case 'oauth':
        return { ...auth, ...this.#oauth(auth) }
    }
  }

  #oauth(auth: Extract<Auth, { type: 'oauth' }>): Partial<Record<(typeof OAUTH_SECRETS)[number], string>> {
    const entries = OAUTH_SECRETS.flatMap((field) => {
      const value = auth[field]
      return value === undefined ? [] : [[field, this.#replaceWhole(`auth.${field}`, value)] as const]
    })
    return Object.fromEntries(entries)
  }

  #record(prefix: string, record: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, this.#replaceWhole(`${prefix}.${name}`, value)]),
    )
  }

  #replaceWhole(field: string, value: string): string {
    const placeholder = placeholderFor(field)
    if (value === placeholder) this.#retain(field, field)
    else if (value.includes('${secret:')) throw missing(field)
    else if (value !== '') this.secrets[field] = value
    return value === '' ? '' : placeholder
  }

  // `--token X`, `--api-key=X`, `GITHUB_TOKEN=X`, `Authorization: Bearer X`, a URL with X in it, or X alone.
  #argument(arg: string, before: string | undefined): string {
    const hasPlaceholders = this.#retainPlaceholders('args', arg)
    const take = (secret: string) => this.#replacePart('args', secret)
    const [, name = '', value = ''] = /^(-{0,2}[\w.-]+(?:=|:\s+))(.+)$/s.exec(arg) ?? []
    const url = maskUrl(value, take)
    if (url !== undefined) return name + url
    const whole = maskUrl(arg, take)
    if (whole !== undefined) return whole
    if (hasPlaceholders) return arg
    const namedBefore = before?.startsWith('-') === true && !before.includes('=') && isSecretName(before)
    if (namedBefore && !arg.startsWith('-')) return take(arg)
    if (name !== '' && (isSecretName(name) || looksSecret(value))) return name + take(value)
    return looksSecret(arg) ? take(arg) : arg
  }

  #url(text: string): string {
    this.#retainPlaceholders('url', text)
    const masked = maskUrl(text, (secret) => this.#replacePart('url', secret))
    if (masked === undefined) throw missing('url')
    return masked
  }

  /** Returns whether there were placeholders. Each must be in the field of its secret. */
  #retainPlaceholders(prefix: string, text: string): boolean {
    const fields = [...text.matchAll(PLACEHOLDER)].map((match) => match[1] as string)
    for (const field of fields) {
      if (!field.startsWith(`${prefix}.`)) throw missing(prefix)
      this.#retain(field, prefix)
    }
    return fields.length > 0
  }

  #retain(field: string, path: string): void {
    const exists = this.#inlineSecrets ? Object.hasOwn(this.#inlineSecrets, field) : this.#stored.has(field)
    if (!exists) throw missing(path)
    if (this.#inlineSecrets) this.secrets[field] = this.#inlineSecrets[field] as string
    else this.retained.push(field)
  }

  #replacePart(prefix: string, secret: string): string {
    let field = `${prefix}.${this.#next++}`
    while (this.#stored.has(field) || Object.hasOwn(this.secrets, field)) field = `${prefix}.${this.#next++}`
    this.secrets[field] = secret
    return placeholderFor(field)
  }
}

const placeholderFor = (field: string) => `\${secret:${field}}`

/** The value is not quoted: a secret may follow the placeholder. */
function missing(path: string): HostError {
  const detail = `The placeholder in "${path}" names no secret that is stored for this field.`
  return new HostError('secret-missing', {
    detail,
    errors: [{ path, message: 'names no stored secret; send the secret itself' }],
  })
}
