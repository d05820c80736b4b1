import { beforeAll, describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { type Tokenizer, tokenizerOf } from '../../search/tokens/tokenizer.ts'
import { codeNames } from '../function-names.ts'
import { type Declarable, declare, declareLine } from './declarations.ts'

const work = newWork()

let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await tokenizerOf()
})

type Schema = Record<string, unknown>

function tool(ref: string, manifest: { inputSchema?: Schema; outputSchema?: unknown; description?: string } = {}) {
  const [toolkit = '', name = ''] = ref.split('.')
  const { inputSchema = { type: 'object' }, outputSchema, description } = manifest
  return {
    ref,
    toolkit,
    tool: name,
    manifest: {
      name,
      inputSchema,
      description,
      ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as Schema }),
    },
  } satisfies Declarable
}
const all = (entries: Declarable[]) => declare(entries, { maxTokens: 100_000, tokenizer })
/** Without the words at the top. */
const textOf = (entries: Declarable[]) => all(entries).text.replace(/^(\/\/.*\n)+/, '')
const outputOf = (outputSchema: unknown) =>
  textOf([tool('x.f', { outputSchema })]).match(/Promise<([\s\S]*)>;\n\};\n$/)?.[1]

describe('schema types', () => {
  it.each<[schema: unknown, type: string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ enum: ['a', 1, null, true, -1.5] }, '"a" | 1 | null | true | -1.5'],
    [{ type: 'string', enum: ['a', 'a'] }, '"a"'],
    [{ const: { a: ['x'] } }, '{ a: ["x"] }'],
    [{ enum: Array.from({ length: 61 }, (_, index) => `v${index}`) }, 'string'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ allOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } } }] }, '{ a: unknown } & { b?: string }'],
    [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }, '[string, number]'],
    [
      { prefixItems: [{ type: 'string' }, { enum: [1, 2] }], minItems: 1, items: {} },
      '[string, (1 | 2)?, ...unknown[]]',
    ],
    [{ type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } }, '[string, ...number[]]'],
    [{ type: 'object' }, '{ [key: string]: unknown }'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [
      { properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } },
      '{ a?: string } & { [key: string]: number }',
    ],
    [{ properties: { a: { type: 'string' } }, additionalProperties: true }, '{ a?: string; [key: string]: unknown }'],
    [{ patternProperties: { '^a': { type: 'string' }, '^b': { type: 'null' } } }, '{ [key: string]: string | null }'],
    [
      { properties: { 'a-b': true, 'c"d': {}, e: false }, required: ['a-b', 'z'] },
      '{ "a-b": unknown; "c\\"d"?: unknown; e?: never; z: unknown }',
    ],
    [
      JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"null"}}}'),
      '{ __proto__?: string; constructor?: null }',
    ],
    [{ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }, '{ a: unknown } | { b: unknown }'],
    [
      { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }, { type: 'null' }] },
      '{ a?: unknown } & ({ a: unknown } | null)',
    ],
    [{ $ref: '#/$defs/Id', $defs: { Id: { type: ['string', 'number'] } } }, '(string | number)'],
    [{ $ref: 'https://example.com/other.json' }, 'unknown'],
    [{ $ref: '#/$defs/gone' }, 'unknown'],
    [{ $ref: '#/constructor/prototype' }, 'unknown'],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, 'unknown'],
    [{ type: 'strnig' }, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    [7, 'unknown'],
  ])('%j', (schema, type) => {
    expect(outputOf(schema)).toBe(type)
  })

  it('name shared definitions once and distinguish different ones', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, value: { type: 'string' } } }
    const other = { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, value: { type: 'number' } } }
    const map = { type: 'object', properties: { a: { $ref: '#/$defs/Map' } } }
    const outputSchema = (Node: Schema) => ({ $ref: '#/$defs/Node', $defs: { Node, Map: map } })
    const text = textOf([
      tool('a.one', { outputSchema: outputSchema(node) }),
      tool('a.two', { outputSchema: outputSchema(node) }),
      tool('b.three', { outputSchema: outputSchema(other) }),
      tool('b.four', { outputSchema: { $ref: '#/$defs/Map', $defs: { Map: map } } }),
    ])
    expect(text).toBe(`type Node = { next?: Node; value?: string };
type BNode = { next?: BNode; value?: number };
type BMap = { a?: BMap };
declare const a: {
  one(input?: {}): Promise<Node>;
  two(input?: {}): Promise<Node>;
};
declare const b: {
  three(input?: {}): Promise<BNode>;
  four(input?: {}): Promise<BMap>;
};
`)
  })

  it('use a named type for a recursive schema in input and output', () => {
    const self = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
      required: ['children'],
    }
    expect(
      textOf([tool('x.f', { inputSchema: self, outputSchema: { $anchor: 'top', ...self, $ref: '#top' } })]),
    ).toContain('type Input = { children: Input[] };\n')
  })
})

describe('declaration comments', () => {
  const commentOf = (schema: Schema) =>
    textOf([tool('x.f', { inputSchema: { type: 'object', properties: { a: schema } } })])

  it.each<[schema: Schema, comment: string]>([
    [
      { type: 'integer', minimum: 1, maximum: 100, default: 30, description: 'Page size.' },
      'Page size. (integer; 1 to 100; default 30)',
    ],
    [{ type: 'string', format: 'date-time', deprecated: true }, '(date-time) @deprecated'],
    [{ type: 'string', minLength: 1, pattern: '^a*/' }, '(pattern ^a*\\/; at least 1 characters)'],
    [
      { type: 'array', maxItems: 5, uniqueItems: true, examples: [['x']] },
      '(at most 5 items; no item twice; e.g. ["x"])',
    ],
    [{ description: 'Ends */ here\nand "goes" on' }, 'Ends *\\/ here and "goes" on'],
    [{ description: 'Hidden *\u200b/ alert() /*' }, 'Hidden *\\/ alert() /*'],
    [{ description: '**//**/' }, '**\\//**\\/'],
    [{ title: 'Only a title' }, 'Only a title'],
  ])('%j', (schema, comment) => {
    expect(commentOf(schema)).toContain(`    /** ${comment} */\n    a?:`)
  })

  it('keep the lines of a tool description and name its alias', () => {
    const text = textOf([tool('x.get-sum', { description: 'Adds.\r\n\r\n\r\n- a */ b\u2028- c' })])
    expect(text).toContain('  /**\n   * Adds.\n   *\n   * - a *\\/ b\n   * - c Also: get_sum\n   */\n  "get-sum"(input')
  })

  it('are truncated', () => {
    expect(commentOf({ description: 'x'.repeat(100_000) }).length).toBeLessThan(600)
    expect(textOf([tool('x.f', { description: 'x'.repeat(100_000) })]).length).toBeLessThan(2_200)
  })
})

describe('schema size limits', () => {
  const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
    let schema: unknown = { type: 'string' }
    for (let i = 0; i < depth; i++) schema = wrap(schema)
    return schema
  }
  const many = (count: number, make: (index: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]))
  const chain = many(10_000, (index) => ({ $ref: `#/$defs/p${index + 1}` }))
  const wide = many(100, () => ({ anyOf: Array.from({ length: 30 }, (_, index) => ({ $ref: `#/$defs/p${index}` })) }))
  const cyclic: Schema = { type: 'object' }
  cyclic.properties = { self: cyclic, list: { type: 'array', items: cyclic } }

  it.each<[what: string, schema: unknown]>([
    ['10,000 objects deep', nested(10_000, (inner) => ({ type: 'object', properties: { a: inner } }))],
    ['10,000 arrays deep', nested(10_000, (items) => ({ type: 'array', items }))],
    ['10,000 alternatives deep', nested(10_000, (inner) => ({ anyOf: [inner, { type: 'null' }] }))],
    [
      '10 MB of properties',
      { type: 'object', properties: many(100_000, () => ({ type: 'string', description: 'x'.repeat(80) })) },
    ],
    ['10 MB of values', { enum: Array.from({ length: 200_000 }, (_, index) => `${index}${'x'.repeat(50)}`) }],
    ['a chain of 10,000 refs', { $ref: '#/$defs/p0', $defs: chain }],
    ['refs in all directions', { $ref: '#/$defs/p0', $defs: wide }],
    [
      'ways that double at each step',
      {
        $ref: '#/$defs/p0',
        $defs: many(40, (index) => ({
          type: 'object',
          properties: { a: { $ref: `#/$defs/p${index + 1}` }, b: { $ref: `#/$defs/p${index + 1}` } },
        })),
      },
    ],
    ['an object that holds itself', cyclic],
    [
      'a property that throws',
      {
        type: 'object',
        get properties(): never {
          throw new Error('no')
        },
      },
    ],
  ])('cuts the comment of a schema that is too large: %s', (_, schema) => {
    // A guard against the square.
    const { text, left } = work.within({ steps: 1_000_000, ms: 5_000 }, () =>
      all([tool('x.f', { inputSchema: schema as Schema, outputSchema: schema })]),
    )
    expect(left).toEqual([])
    expect(text.length).toBeLessThan(150_000)
  })
})

describe('the token budget', () => {
  const issue = {
    type: 'object',
    properties: {
      owner: { type: 'string', description: 'Who owns the repository' },
      state: { enum: ['open', 'closed'] },
    },
    required: ['owner'],
  }
  const entries = Array.from({ length: 300 }, (_, index) =>
    tool(`${index % 2 ? 'github' : 'my-files'}.do_thing_${index}`, {
      inputSchema: issue,
      description: `Does the thing number ${index}, as often as it is asked to, and tells how it went.`,
    }),
  )
  const within = (maxTokens: number, of = entries) => declare(of, { maxTokens, tokenizer })

  it('is never exceeded', () => {
    for (const maxTokens of [0, 1, 20, 50, 60, 80, 100, 150, 300, 1_000, 3_000, 10_000]) {
      const { text, tokens } = within(maxTokens)
      expect(tokens).toBe(text === '' ? 0 : tokenizer.count(text))
      expect(tokens).toBeLessThanOrEqual(maxTokens)
    }
  })

  it('is spent on full declarations, then single lines, then names, then a count', () => {
    const { text, tokens, left } = within(1_500)
    expect(tokens).toBeGreaterThan(1_400)
    expect(text).toContain('Does the thing number 0,')
    expect(text).toMatch(
      /\n {2}do_thing_\d+\(input: \{ owner: string; state\?: "open" \| "closed" \}\): Promise<unknown>;\n/,
    )
    expect(text).toMatch(/\/\/ (github|my_files): do_thing_\d+/)
    expect(text).toContain(`// ${left.length} more: await search(`)
    expect(left.length).toBeGreaterThan(200)
    expect([...left].sort((a, b) => entries.indexOf(a) - entries.indexOf(b))).toEqual(left)
    expect(left).not.toContain(entries[0])
  })

  it('adds no search hint when all tools fit', () => {
    const few = entries.slice(0, 4)
    const { text, left } = within(2_000, few)
    expect(left).toEqual([])
    expect(text).not.toContain('search(')
  })

  it('gives the same text for the same tools', () => {
    expect(within(2_000).text).toBe(within(2_000).text)
  })

  it('shortens a large tool to leave room for the others', () => {
    const large = tool('big.one', {
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: 'string', description: 'x y '.repeat(90) }]),
        ),
      },
    })
    const { text, left } = within(1_000, [large, ...entries.slice(0, 2)])
    expect(left).toEqual([])
    expect(text).toContain('one(input?: { p0?: string;')
    expect(text).toContain('number 1,')
  })

  it('covers 10,000 tools in bounded work', () => {
    const lots = Array.from({ length: 10_000 }, (_, index) => ({
      ...tool(`kit-${index % 50}.t_${index}`, entries[0]?.manifest),
      ref: `kit-${index % 50}.t_${index}`,
    }))
    const { left } = work.within({ steps: 2_000_000, ms: 5_000 }, () => within(4_000, lots))
    expect(left.length).toBeGreaterThan(9_000)
  })

  it('uses the names of the whole loadout', () => {
    const both = [tool('a-b.x'), tool('a_b.x')]
    expect(declare(both.slice(0, 1), { maxTokens: 500, tokenizer, names: codeNames(both) }).text).toContain(
      'declare const a_b_2:',
    )
    expect(
      declare([...both, tool('c.x')], { maxTokens: 500, tokenizer, names: codeNames(both) }).left.map(({ ref }) => ref),
    ).toEqual(['c.x'])
  })

  it('has a one-line form for a single tool', () => {
    const entry = tool('my-files.get-sum', {
      inputSchema: issue,
      outputSchema: { $ref: '#/$defs/N', $defs: { N: { type: 'object', properties: { n: { $ref: '#/$defs/N' } } } } },
    })
    const name = codeNames([entry]).get(entry.ref)
    expect(name && declareLine(entry, name)).toBe(
      'my_files["get-sum"](input: { owner: string; state?: "open" | "closed" }): Promise<{ n?: unknown }>',
    )
  })
})
