/**
 * Form state of a toolkit, and its conversion from a stored toolkit and to a request. Stored secrets never reach the
 * browser: the API returns a `${secret:…}` placeholder, which keeps the secret when sent back. A draft keeps it in
 * `stored` until the user replaces or removes it.
 */
import type { Toolkit, ToolkitBody } from '../../../lib/api.ts'
import { changedOptions, emptyOptions, lines, type OptionsDraft, optionsOf } from './draft-options.ts'

export const KINDS = ['stdio', 'http', 'sse'] as const
export type Kind = (typeof KINDS)[number]
export const AUTH_TYPES = ['none', 'bearer', 'headers', 'oauth'] as const
export type AuthType = (typeof AUTH_TYPES)[number]

export interface Secret {
  /** Placeholder of the stored secret, or ''. */
  stored: string
  /** Whether `text` replaces the stored secret. */
  replaced: boolean
  text: string
}

export interface SecretRow {
  key: number
  name: string
  value: Secret
}

export interface Draft {
  name: string
  type: Kind
  command: string
  /** One argument per line. */
  args: string
  /** Stored arguments, sent unless edited, because an argument may contain a line break. */
  storedArgs: readonly string[]
  cwd: string
  env: readonly SecretRow[]
  /** Hosts allowed in the sandbox, one per line. */
  hosts: string
  /** Id of the operator's command template. */
  template: string
  values: readonly SecretRow[]
  url: string
  headers: readonly SecretRow[]
  authType: AuthType
  token: Secret
  authHeaders: readonly SecretRow[]
  clientId: string
  clientSecret: Secret
  scopes: string
  options: OptionsDraft
  /** Stored options; unchanged options are not sent. */
  storedOptions: OptionsDraft
}

export const newSecret = (): Secret => ({ stored: '', replaced: false, text: '' })

export const holdsPlaceholder = (text: string): boolean => text.includes('${secret:')

export function emptyDraft(type: Kind): Draft {
  return {
    name: '',
    type,
    command: '',
    args: '',
    storedArgs: [],
    cwd: '',
    env: [],
    hosts: '',
    template: '',
    values: [],
    url: '',
    headers: [],
    authType: 'none',
    token: newSecret(),
    authHeaders: [],
    clientId: '',
    clientSecret: newSecret(),
    scopes: '',
    options: emptyOptions(),
    storedOptions: emptyOptions(),
  }
}

export function draftOf({ name, server, options }: Pick<Toolkit, 'name' | 'server' | 'options'>): Draft {
  const auth = record(server.auth)
  const args = list(server.args)
  const type = KINDS.find((kind) => kind === server.type) ?? 'stdio'
  return {
    ...emptyDraft(type),
    name,
    command: text(server.command),
    args: args.join('\n'),
    storedArgs: args,
    cwd: text(server.cwd),
    env: rows(server.env),
    hosts: list(server.hosts).join('\n'),
    template: text(server.template),
    values: rows(server.values),
    url: text(server.url),
    headers: rows(server.headers),
    authType: AUTH_TYPES.find((value) => value === auth.type) ?? 'none',
    token: secret(auth.token),
    authHeaders: rows(auth.headers),
    clientId: text(auth.clientId),
    clientSecret: secret(auth.clientSecret),
    scopes: list(auth.scopes).join(' '),
    options: optionsOf({ options }),
    storedOptions: optionsOf({ options }),
  }
}

export function bodyOf(draft: Draft): ToolkitBody {
  const server = draft.type === 'stdio' ? stdioOf(draft) : remoteOf(draft)
  return { name: draft.name.trim(), server, ...changedOptions(draft.options, draft.storedOptions) }
}

/** Compares the resulting toolkits of two drafts. */
export const isSameDraft = (one: Draft, other: Draft): boolean => fingerprint(one) === fingerprint(other)
const fingerprint = (draft: Draft) =>
  JSON.stringify([bodyOf({ ...draft, storedOptions: draft.options }), draft.options])

function stdioOf({ type, command, args, storedArgs, cwd, env, hosts, template, values }: Draft) {
  // A command replaces the template.
  if (template !== '' && command.trim() === '') return { type, template, values: pairs(values) }
  const unchanged = args === storedArgs.join('\n')
  return {
    type,
    command: command.trim(),
    args: unchanged ? storedArgs : lines(args),
    env: pairs(env),
    ...(cwd.trim() === '' ? {} : { cwd: cwd.trim() }),
    ...(lines(hosts).length === 0 ? {} : { hosts: lines(hosts) }),
  }
}

function remoteOf(draft: Draft) {
  return { type: draft.type, url: draft.url.trim(), headers: pairs(draft.headers), auth: authOf(draft) }
}

function authOf({ authType, token, authHeaders, clientId, clientSecret, scopes }: Draft) {
  if (authType === 'bearer') return { type: authType, token: valueToSend(token) }
  if (authType === 'headers') return { type: authType, headers: pairs(authHeaders) }
  if (authType === 'none') return { type: authType }
  const scopeList = scopes.split(/[\s,]+/).filter(Boolean)
  return {
    type: authType,
    ...(clientId.trim() === '' ? {} : { clientId: clientId.trim() }),
    ...(valueToSend(clientSecret) === '' ? {} : { clientSecret: valueToSend(clientSecret) }),
    ...(scopeList.length === 0 ? {} : { scopes: scopeList }),
  }
}

const valueToSend = ({ stored, replaced, text }: Secret) => (stored !== '' && !replaced ? stored : text)

/** Whether a row has neither name nor value. */
export const isBlank = ({ name, value }: SecretRow): boolean => name.trim() === '' && valueToSend(value) === ''

const pairs = (rows: readonly SecretRow[]) =>
  Object.fromEntries(rows.filter((row) => !isBlank(row)).map(({ name, value }) => [name.trim(), valueToSend(value)]))

// The API types a server as any object; these helpers read its fields safely.
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const list = (value: unknown) => (Array.isArray(value) ? value.map(text) : [])
const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
const rows = (value: unknown): SecretRow[] =>
  Object.entries(record(value)).map(([name, item], key) => ({ key, name, value: secret(item) }))

function secret(value: unknown): Secret {
  const content = text(value)
  return holdsPlaceholder(content) ? { ...newSecret(), stored: content } : { ...newSecret(), text: content }
}
