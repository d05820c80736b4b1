/** JSON Schema features per provider, with their sources. Used only by `project-schema.ts`. */

export const SCHEMA_PROVIDERS = ['openai', 'openai-strict', 'gemini', 'gemini-json', 'anthropic'] as const
export type SchemaProvider = (typeof SCHEMA_PROVIDERS)[number]

export interface SchemaRules {
  /** Allowed keywords; undefined allows all. */
  keeps: ReadonlySet<string> | undefined
  /** Allowed `format`s; undefined allows all. */
  formats: ReadonlySet<string> | undefined
  /** Whether `$ref`s stay or are inlined. */
  refs: 'keep' | 'inline'
  /** Every field is required and no others are allowed: optional fields become nullable. */
  closed: boolean
  /** How null is expressed: as a type, or as the `nullable` keyword. */
  nullAs: 'type' | 'nullable'
  /** `typeof` of enum values; undefined allows all. */
  enums: ReadonlySet<string> | undefined
  /** Whether a schema may omit its type. */
  untyped: boolean
  /** Allowed field names. */
  names: RegExp | undefined
  /** Levels of objects and lists. */
  depth: number
  /** Total number of fields. */
  fields: number
}

const TEXTS = new Set(['string'])
const WORDS = ['type', 'title', 'description', 'enum', 'items', 'properties', 'required', 'anyOf']

export const SCHEMA_RULES: Readonly<Record<SchemaProvider, SchemaRules>> = {
  /** Tools that are not strict: unchanged except for forms at the root, which the API rejects with 400. */
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
  /** Guide to structured outputs: supported properties and formats, 5,000 fields, 10 levels. */
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
  /** `Schema` of the API reference, a subset of OpenAPI 3.0. */
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
  /** `parametersJsonSchema`, which the AI SDK sends: the listed JSON Schema keywords; refs must not be cyclic. */
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
  /** JSON Schema 2020-12, except forms at the root and field names that the API rejects with 400. */
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

/** Annotations without effect on validation: removing them is no loss. */
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
