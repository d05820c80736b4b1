/**
 * Takes the secrets out of a server record and leaves `${secret:field}` in their place, so that what is stored, shown
 * and logged has none. Every environment and header value counts as one; in arguments and URLs what looks like one.
 * A placeholder that comes back in means: keep what is stored. It is taken only where that secret stood.
 */
import { HostError } from '../errors.ts'
import type { Auth, RemoteServer, Server, StdioServer } from '../schema/server.ts'
import { isSecretName, looksSecret } from './looks-secret.ts'

export interface TakenSecrets {
  server: Server
  /** New secrets by field. */
  secrets: Record<string, string>
  /** Fields whose stored secret stays. What is in neither is to be cleared. */
  kept: string[]
}

const PLACEHOLDER = /\$\{secret:([^}]+)\}/g

export function takeSecrets(server: Server, stored: readonly string[]): TakenSecrets {
  const taker = new Taker(stored)
  return { server: taker.server(server), secrets: taker.secrets, kept: taker.kept }
}

/** The record with its secrets put back, for a connection. */
export function fillSecrets(server: Server, secrets: Readonly<Record<string, string>>): Server {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, field: string) => lookUp(secrets, field))
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]))
  }
  return server.type === 'custom' ? server : (fill(server) as Server)
}

function lookUp(secrets: Readonly<Record<string, string>>, field: string): string {
  if (Object.hasOwn(secrets, field)) return secrets[field] as string
  throw new HostError('secret-missing', { detail: `The secret "${field}" is not stored.` })
}

class Taker {
  readonly secrets: Record<string, string> = {}
  readonly kept: string[] = []
  readonly #stored: ReadonlySet<string>
  #next = 0

  constructor(stored: readonly string[]) {
    this.#stored = new Set(stored)
  }

  server(server: Server): Server {
    if (server.type === 'custom') return server
    return server.type === 'stdio' ? this.#stdio(server) : this.#remote(server)
  }

  #stdio(server: StdioServer): StdioServer {
    return {
      ...server,
      env: this.#record('env', server.env),
      args: server.args.map((arg, index) => this.#argument(arg, server.args[index - 1])),
    }
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
        return { ...auth, token: this.#whole('auth.token', auth.token) }
      case 'headers':
        return { ...auth, headers: this.#record('auth.headers', auth.headers) }
      case 'oauth':
        return auth.clientSecret === undefined
          ? auth
          : { ...auth, clientSecret: this.#whole('auth.clientSecret', auth.clientSecret) }
    }
  }

  #record(prefix: string, record: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, this.#whole(`${prefix}.${name}`, value)]),
    )
  }

  #whole(field: string, value: string): string {
    const placeholder = placeholderFor(field)
    if (value === placeholder) this.#keep(field, field)
    else if (value.includes('${secret:')) throw missing(field, value)
    else if (value !== '') this.secrets[field] = value
    return value === '' ? '' : placeholder
  }

  // `--token X`, `--api-key=X`, `GITHUB_TOKEN=X`, `Authorization: Bearer X`, or X that looks like a key by itself.
  #argument(arg: string, before: string | undefined): string {
    if (this.#keepsPlaceholders('args', arg)) return arg
    const pair = /^([^=:\s]+(?:=|:\s*))(.+)$/s.exec(arg)
    const [, name = '', value = ''] = pair ?? []
    const namedBefore = before?.startsWith('-') === true && !before.includes('=') && isSecretName(before)
    if (namedBefore && !arg.startsWith('-')) return this.#piece('args', arg)
    if (pair && isSecretName(name) && !/^(https?|wss?):/i.test(arg)) return name + this.#piece('args', value)
    return looksSecret(value)
      ? name + this.#piece('args', value)
      : looksSecret(arg)
        ? this.#piece('args', arg)
        : this.#urlArgument(arg)
  }

  #urlArgument(arg: string): string {
    return URL.canParse(arg) && arg.includes('://') ? this.#url(arg, 'args') : arg
  }

  #url(text: string, prefix = 'url'): string {
    if (this.#keepsPlaceholders(prefix, text)) return text
    const url = new URL(text)
    const secrets = [
      ...[url.password].filter((part) => part !== ''),
      ...[...url.searchParams]
        .filter(([name, value]) => value !== '' && (isSecretName(name) || looksSecret(value)))
        .map(([, value]) => value),
      ...url.pathname.split('/').filter(looksSecret),
      ...(url.hash.length > 1 && looksSecret(url.hash.slice(1)) ? [url.hash.slice(1)] : []),
    ]
    let masked = text
    for (const secret of new Set(secrets)) {
      // The spelling in the text may be percent-encoded; keep whichever stands there.
      const spelling = [secret, encodeURIComponent(secret)].find((candidate) => masked.includes(candidate))
      if (spelling !== undefined) masked = masked.replaceAll(spelling, this.#piece(prefix, spelling))
    }
    return masked
  }

  #keepsPlaceholders(prefix: string, text: string): boolean {
    const fields = [...text.matchAll(PLACEHOLDER)].map((match) => match[1] as string)
    for (const field of fields) {
      if (!field.startsWith(`${prefix}.`)) throw missing(prefix, text)
      this.#keep(field, prefix)
    }
    return fields.length > 0
  }

  #keep(field: string, place: string): void {
    if (!this.#stored.has(field)) throw missing(place, placeholderFor(field))
    this.kept.push(field)
  }

  #piece(prefix: string, secret: string): string {
    let field = `${prefix}.${this.#next++}`
    while (this.#stored.has(field) || Object.hasOwn(this.secrets, field)) field = `${prefix}.${this.#next++}`
    this.secrets[field] = secret
    return placeholderFor(field)
  }
}

const placeholderFor = (field: string) => `\${secret:${field}}`

function missing(path: string, placeholder: string): HostError {
  const detail = `"${placeholder.slice(0, 120)}" names no secret that is stored for this field.`
  return new HostError('secret-missing', {
    detail,
    errors: [{ path, message: 'names no stored secret; send the secret itself' }],
  })
}
