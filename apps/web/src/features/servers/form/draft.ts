/**
 * What the form holds, and the way from a stored toolkit to it and back to a request.
 * A stored secret never reaches the browser: the API shows a `${secret:…}` placeholder, and the same placeholder sent
 * back means "keep it". A draft carries it in `stored` until the user replaces or removes it.
 */
import type { Toolkit, ToolkitBody } from '../../../lib/api.ts'
import { changedOptions, emptyOptions, lines, type OptionsDraft, optionsOf } from './draft-options.ts'

export const KINDS = ['stdio', 'http', 'sse'] as const
export type Kind = (typeof KINDS)[number]
export const AUTH_TYPES = ['none', 'bearer', 'headers', 'oauth'] as const
export type AuthType = (typeof AUTH_TYPES)[number]

export interface Secret {
  /** The placeholder of the secret that is stored, or '' where none is. */
  stored: string
  /** Whether `text` takes the place of what is stored. */
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
  /** One argument a line. */
  args: string
  /** The arguments as they were stored: a line break inside one of them must survive an edit of something else. */
  storedArgs: readonly string[]
  cwd: string
  env: readonly SecretRow[]
  /** What it may reach from within a sandbox, one host a line. */
  hosts: string
  /** A command line that the operator prepared. */
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
  /** As they are stored: what did not change is not sent. */
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

/** Whether both say the same of a toolkit, whatever each began with. */
export const isSameDraft = (one: Draft, other: Draft): boolean => fingerprint(one) === fingerprint(other)
const fingerprint = (draft: Draft) =>
  JSON.stringify([bodyOf({ ...draft, storedOptions: draft.options }), draft.options])

function stdioOf({ type, command, args, storedArgs, cwd, env, hosts, template, values }: Draft) {
  // Who gives a command instead no longer wants the template.
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

/** A row that nobody filled in. */
export const isBlank = ({ name, value }: SecretRow): boolean => name.trim() === '' && valueToSend(value) === ''

const pairs = (rows: readonly SecretRow[]) =>
  Object.fromEntries(rows.filter((row) => !isBlank(row)).map(({ name, value }) => [name.trim(), valueToSend(value)]))

// The API describes a server as an object of any shape; these read one field of it, whatever is there.
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
