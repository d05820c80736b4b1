/** Maps API errors to form fields as sentences. */
import type { Problem, Toolkit } from '../../../lib/api.ts'
import type { StdioRules } from '../queries.ts'
import { type Draft, isBlank, type SecretRow } from './draft.ts'
import { emptyOptions, isSeconds, type OptionsDraft, TIMEOUTS } from './draft-options.ts'
import { rowsFor, valueMistakes } from './template-values.ts'

/** Message by field: a draft key, or `key#row` for a row. */
export type FieldErrors = Readonly<Record<string, string>>

const LABELS = {
  name: 'Name',
  type: 'Transport',
  command: 'Command',
  args: 'Arguments',
  cwd: 'Working directory',
  env: 'Environment',
  url: 'URL',
  headers: 'Headers',
  authType: 'Authentication',
  token: 'Token',
  authHeaders: 'Authentication headers',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  scopes: 'Scopes',
  hosts: 'Hosts',
  template: 'Template',
  values: 'Values',
  account: 'Account',
  include: 'Only these tools',
  exclude: 'Not these tools',
  callers: 'Who may call',
  connectMs: 'Connecting',
  introspectMs: 'Listing tools',
  callMs: 'A call without progress',
  totalMs: 'A call in all',
} as const satisfies Partial<Record<keyof Draft | keyof OptionsDraft, string>>
type FieldName = keyof typeof LABELS

const FIELD_OF: Readonly<Record<string, FieldName>> = {
  name: 'name',
  id: 'name',
  type: 'type',
  command: 'command',
  args: 'args',
  cwd: 'cwd',
  env: 'env',
  url: 'url',
  headers: 'headers',
  auth: 'authType',
  'auth.token': 'token',
  'auth.headers': 'authHeaders',
  'auth.clientId': 'clientId',
  'auth.clientSecret': 'clientSecret',
  'auth.scopes': 'scopes',
  hosts: 'hosts',
  template: 'template',
  values: 'values',
  account: 'account',
  include: 'include',
  exclude: 'exclude',
  allowedCallers: 'callers',
  timeouts: 'callMs',
  ...Object.fromEntries(TIMEOUTS.map((name) => [`timeouts.${name}`, name])),
}

/** Maps errors to fields; the first error of a field is shown. */
export function mapErrors(errors: Problem['errors'], draft: Draft): FieldErrors {
  const placed: Record<string, string> = {}
  // A generated id fails only because of its name, so the name's message wins.
  const ordered = [...(errors ?? [])].sort((a, b) => Number(a.path === 'id') - Number(b.path === 'id'))
  for (const { path, message } of ordered) {
    const found = find(withoutWrapper(path))
    if (!found) continue
    const { key, subject } = locate(found, draft)
    placed[key] ??= sentence(subject, message)
  }
  return placed
}

/** Whether every error belongs to a field. */
export const isPlaced = (errors: Problem['errors']): boolean =>
  (errors ?? []).length > 0 && (errors ?? []).every(({ path }) => find(withoutWrapper(path)) !== undefined)

/** Client-side validation: rows without a name, duplicate names and invalid template values. */
export function validateDraft(draft: Draft, others: readonly Toolkit[], rules?: StdioRules): FieldErrors {
  const rows =
    draft.type === 'stdio'
      ? { ...rowMistakes('env', draft.env), ...templateMistakes(draft, rules) }
      : { ...rowMistakes('headers', draft.headers), ...rowMistakes('authHeaders', draft.authHeaders) }
  // The API upserts by name; the add form must not overwrite.
  const taken = others.find((other) => sameName(other.name, draft.name))
  const name: FieldErrors = taken
    ? { name: `You already have a server named “${taken.name}”. Choose another name.` }
    : {}
  const times = TIMEOUTS.filter((field) => !isSeconds(draft.options[field]))
  return { ...name, ...rows, ...Object.fromEntries(times.map((field) => [field, 'Give a number of seconds above 0.'])) }
}

function templateMistakes({ template, values, command, args }: Draft, rules: StdioRules | undefined): FieldErrors {
  if (rules?.policy !== 'templates' || command.trim() !== '' || args.trim() !== '') return {}
  if (template === '') return rules.templates.length > 0 ? { template: 'Choose one of them.' } : {}
  const chosen = rules.templates.find(({ id }) => id === template)
  return chosen ? valueMistakes(chosen, rowsFor(chosen, values)) : {}
}

const ROW_FIELDS: readonly string[] = ['env', 'headers', 'authHeaders', 'values'] satisfies Array<keyof Draft>

/** Errors by form field: a message, or for a field with rows the messages of the field and its rows. */
export function errorsByField(errors: FieldErrors): Record<string, string | FieldErrors> {
  const fields: Record<string, string | FieldErrors> = {}
  for (const [key, message] of Object.entries(errors)) {
    const field = key.split('#')[0] ?? key
    if (ROW_FIELDS.includes(field)) fields[field] = { ...(fields[field] as FieldErrors | undefined), [key]: message }
    else fields[Object.hasOwn(emptyOptions(), field) ? `options.${field}` : field] = message
  }
  return fields
}

/** Messages of a field with rows. */
export const rowErrors = ([error]: readonly unknown[]): FieldErrors =>
  typeof error === 'object' && error !== null ? (error as FieldErrors) : {}

const withoutWrapper = (path: string) => path.replace(/^server\./, '')

function find(path: string): { field: FieldName; rest: string } | undefined {
  const parts = path.split('.')
  for (let length = parts.length; length > 0; length--) {
    const field = FIELD_OF[parts.slice(0, length).join('.')]
    if (field) return { field, rest: parts.slice(length).join('.') }
  }
  return undefined
}

function locate({ field, rest }: { field: FieldName; rest: string }, draft: Draft): { key: string; subject: string } {
  const label = LABELS[field]
  if (rest === '') return { key: field, subject: label }
  if (field === 'args' || field === 'hosts' || field === 'include' || field === 'exclude')
    return { key: field, subject: `Line ${Number(rest) + 1}` }
  const rows =
    field === 'env' || field === 'headers' || field === 'authHeaders' || field === 'values' ? draft[field] : []
  const row = rows.find(({ name }) => name.trim() === rest)
  return { key: row ? `${field}#${row.key}` : field, subject: rest }
}

function rowMistakes(field: FieldName, rows: readonly SecretRow[]): FieldErrors {
  const errors: Record<string, string> = {}
  const seen = new Set<string>()
  for (const row of rows) {
    const name = row.name.trim()
    if (isBlank(row)) continue
    if (name === '') errors[`${field}#${row.key}`] = 'Give it a name.'
    else if (seen.has(name)) errors[`${field}#${row.key}`] = `${name} is there twice.`
    seen.add(name)
  }
  return errors
}

// API messages continue the field name; library messages are whole sentences.
function sentence(subject: string, message: string): string {
  const text = /^[a-z]/.test(message) ? `${subject} ${message}` : message
  return /[.!?]$/.test(text) ? text : `${text}.`
}

// Names that differ only in case are indistinguishable to users.
export const sameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()
