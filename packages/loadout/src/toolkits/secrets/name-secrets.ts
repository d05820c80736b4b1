/** Assigns readable, unique names to the secrets of toolkits: `GITHUB_TOKEN`, `LINEAR_AUTHORIZATION`, `DB_PASSWORD`. */
import { readVariables, variablesIn } from '../import/variables.ts'
import type { StoredToolkit } from '../stored-toolkit.ts'
import { PLACEHOLDER } from './url-secrets.ts'

export interface NamedSecret {
  name: string
  /** Toolkit id, for descriptions. */
  toolkit: string
  field: string
}

export interface SecretNames {
  entries: readonly NamedSecret[]
  nameOf(uscoId: string, field: string): string
}

interface NameRequest {
  uscoId: string
  toolkit: string
  field: string
  /** Used when no other secret requests it. */
  bare: string | undefined
  long: string
}

export function nameSecrets(toolkits: readonly StoredToolkit[]): SecretNames {
  const requests = toolkits.flatMap(requestNames)
  const wanted = new Map<string, number>()
  for (const { bare } of requests) if (bare !== undefined) wanted.set(bare, (wanted.get(bare) ?? 0) + 1)
  // A literal variable name in a record must not become the name of a secret.
  const taken = new Set(toolkits.flatMap(literalNames))
  const names = new Map<string, NamedSecret>()
  const isFree = ({ bare }: NameRequest) => bare !== undefined && wanted.get(bare) === 1 && !taken.has(bare)
  const assign = ({ uscoId, toolkit, field }: NameRequest, name: string) => {
    taken.add(name)
    names.set(keyOf(uscoId, field), { name, toolkit, field })
  }
  const { bare = [], long = [] } = Object.groupBy(requests, (request) => (isFree(request) ? 'bare' : 'long'))
  for (const request of bare) assign(request, request.bare as string)
  for (const request of long) assign(request, freeName(request.long, taken))
  return {
    entries: requests.map(({ uscoId, field }) => names.get(keyOf(uscoId, field)) as NamedSecret),
    nameOf: (uscoId, field) => names.get(keyOf(uscoId, field))?.name ?? toEnvName(field),
  }
}

const keyOf = (uscoId: string, field: string) => JSON.stringify([uscoId, field])

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!taken.has(name)) return name
  }
}

/** One name request per secret of the record, in order of position. */
function requestNames({ uscoId, toolkit }: StoredToolkit): NameRequest[] {
  const requests = new Map<string, NameRequest>()
  const prefix = toEnvName(toolkit.id)
  for (const { text, before } of textsOf(toolkit.server))
    for (const { 1: field = '', index } of text.matchAll(PLACEHOLDER)) {
      if (requests.has(field)) continue
      const own = localName(field, text.slice(0, index), before)
      const bare = field.startsWith('env.') && /^[A-Za-z_]\w*$/.test(own) ? own : undefined
      requests.set(field, { uscoId, toolkit: toolkit.id, field, bare, long: `${prefix}_${toEnvName(own)}` })
    }
  return [...requests.values()]
}

interface Text {
  text: string
  /** Previous argument. */
  before?: string
}

function* textsOf(value: unknown, before?: string): Generator<Text> {
  if (typeof value === 'string') yield { text: value, ...(before === undefined ? {} : { before }) }
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* textsOf(item, textAt(value, index - 1))
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsOf(item)
}

const textAt = (list: readonly unknown[], index: number) => (typeof list[index] === 'string' ? list[index] : undefined)

/** Local name of a secret: its field, the flag or parameter before it, or its kind. */
function localName(field: string, textBefore: string, argumentBefore: string | undefined): string {
  const [, kind = '', rest = ''] = /^(env|values|secrets|headers|auth\.headers|auth|args|url)\.(.*)$/s.exec(field) ?? []
  if (kind !== 'args' && kind !== 'url') return rest || field
  const inText = /([\w.-]+)(?:=|:\s*(?:\w+\s+)?)$/.exec(textBefore.slice(-200))?.[1]
  const inFlag = textBefore === '' && argumentBefore?.startsWith('-') ? argumentBefore : undefined
  return inText ?? inFlag ?? (kind === 'url' ? 'URL' : 'ARGUMENT')
}

function toEnvName(text: string): string {
  const word = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60)
    .toUpperCase()
  return /^[A-Z]/.test(word) ? word : `SECRET_${word}`
}

const literalNames = ({ toolkit }: StoredToolkit) =>
  [...textsOf(toolkit.server)].flatMap(({ text }) =>
    [...variablesIn(readVariables(text).parts)].flatMap(({ name, isSecretRef }) =>
      name === undefined || isSecretRef ? [] : [name],
    ),
  )
