/** What each provider takes of a JSON Schema, and where that is said. Asked by `project-schema.ts` alone. */

export const SCHEMA_PROVIDERS = ['openai', 'openai-strict', 'gemini', 'gemini-json', 'anthropic'] as const
export type SchemaProvider = (typeof SCHEMA_PROVIDERS)[number]

export interface SchemaRules {
  /** The keywords that stay as they are; undefined: all. */
  keeps: ReadonlySet<string> | undefined
  /** The `format`s that are known; undefined: any. */
  formats: ReadonlySet<string> | undefined
  /** Whether `$ref`s stay; else each becomes what it points at. */
  refs: 'keep' | 'inline'
  /** Every field is required, and there are no others: what may be missing may be null. */
  closed: boolean
  /** How null is said: as one of the types, or as a word of its own. */
  nullAs: 'type' | 'nullable'
  /** What an enum may hold, as `typeof` says it; undefined: anything. */
  enums: ReadonlySet<string> | undefined
  /** Whether a schema may say nothing of its type. */
  untyped: boolean
  /** Names of fields that it takes. */
  names: RegExp | undefined
  /** Levels of objects and lists. */
  depth: number
  /** Fields in all. */
  fields: number
}

const TEXTS = new Set(['string'])
const WORDS = ['type', 'title', 'description', 'enum', 'items', 'properties', 'required', 'anyOf']

export const SCHEMA_RULES: Readonly<Record<SchemaProvider, SchemaRules>> = {
  /** Tools that are not strict: as they are, but for forms at the top, which its API answers 400 to. */
  openai: {
    keeps: undefined,
    formats: undefined,
    refs: 'keep',
    closed: false,
    nullAs: 'type',
    enums: undefined,
    untyped: true,
    names: undefined,
    depth: 60,
    fields: 20_000,
  },
  /** The guide to structured outputs: supported properties and formats, 5,000 fields, 10 levels. */
  'openai-strict': {
    keeps: new Set([
      ...WORDS,
      'const',
      'pattern',
      'format',
      'multipleOf',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minItems',
      'maxItems',
      '$ref',
      '$defs',
      'definitions',
    ]),
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
    refs: 'keep',
    closed: true,
    nullAs: 'type',
    enums: undefined,
    untyped: false,
    names: undefined,
    depth: 10,
    fields: 5000,
  },
  /** `Schema` of its API reference, which is a part of OpenAPI 3.0. */
  gemini: {
    keeps: new Set([
      ...WORDS,
      'format',
      'nullable',
      'default',
      'example',
      'pattern',
      'propertyOrdering',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      'minLength',
      'maxLength',
      'minProperties',
      'maxProperties',
    ]),
    formats: new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double']),
    refs: 'inline',
    closed: false,
    nullAs: 'nullable',
    enums: TEXTS,
    untyped: false,
    names: undefined,
    depth: 30,
    fields: 5000,
  },
  /** `parametersJsonSchema`, which the AI SDK sends: the words that the reference lists of JSON Schema; refs may not go in circles. */
  'gemini-json': {
    keeps: new Set([
      ...WORDS,
      'format',
      'prefixItems',
      'minItems',
      'maxItems',
      'minimum',
      'maximum',
      'additionalProperties',
      'propertyOrdering',
    ]),
    formats: undefined,
    refs: 'inline',
    closed: false,
    nullAs: 'type',
    enums: new Set(['string', 'number']),
    untyped: true,
    names: undefined,
    depth: 30,
    fields: 5000,
  },
  /** JSON Schema 2020-12, but for what its API answers 400 to: forms at the top, and such names of fields. */
  anthropic: {
    keeps: undefined,
    formats: undefined,
    refs: 'keep',
    closed: false,
    nullAs: 'type',
    enums: undefined,
    untyped: true,
    names: /^[a-zA-Z0-9_.-]{1,64}$/,
    depth: 60,
    fields: 20_000,
  },
}

/** Said of a schema, not by it: nothing is lost with them. */
export const REMARKS = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])
