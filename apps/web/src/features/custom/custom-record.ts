/** A custom toolkit as one JSON text, which the form also reads and writes. Unknown fields are preserved. */
import type { Toolkit } from '../../lib/api.ts'

export interface CustomTool {
  name?: string
  title?: string
  description?: string
  inputSchema?: unknown
  outputSchema?: unknown
  annotations?: Record<string, unknown>
  execute?: string
  hosts?: string[]
  tools?: string[]
}

export interface CustomRecord {
  tools: CustomTool[]
  secrets?: Record<string, string>
}

export const NEW_TOOL: CustomTool = {
  name: 'new_tool',
  description: '',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: 'return input.text.toUpperCase()',
}

export const NEW_RECORD: CustomRecord = {
  tools: [{ ...NEW_TOOL, name: 'shout', description: 'Says a text loudly.', annotations: { readOnlyHint: true } }],
}

export const recordText = (record: unknown): string => JSON.stringify(record, undefined, 2)

/** The stored record without its `type`. */
export function recordOf({ server }: Pick<Toolkit, 'server'>): CustomRecord {
  const { type: _, ...record } = server
  return record as unknown as CustomRecord
}

/** Editor state: the name, and the rest as one text. */
export interface RecordDraft {
  name: string
  text: string
}

/** Compares two drafts independent of key order. */
export const isSame = (one: RecordDraft, other: RecordDraft): boolean =>
  one.name === other.name && (one.text === other.text || sorted(one.text) === sorted(other.text))

function sorted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
    )
  } catch {
    return text
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether the form can show the value: an object with an array of objects in `tools`. */
export const isDrawable = (value: unknown): value is CustomRecord =>
  isObject(value) &&
  Array.isArray(value.tools) &&
  value.tools.every(isObject) &&
  (value.secrets === undefined || isObject(value.secrets))

/** Sets a field, and removes it if the value is empty. */
export function withField<T extends object, K extends keyof T>(holder: T, field: K, value: T[K] | undefined): T {
  const next = { ...holder }
  const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  if (isEmpty) delete next[field]
  else next[field] = value as T[K]
  return next
}

/** A tool name that is not used yet. */
export function freeName(tools: readonly CustomTool[], wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name))
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!taken.has(name)) return name
  }
}
