/** What is declared is TypeScript, by the compiler's own word: of real servers, and of whatever a schema may hold. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { startModelHost } from '../../../../test/model-host.ts'
import { type Declarable, declare } from '../../src/code-mode/declarations/declarations.ts'
import { type Tokenizer, tokenizerOf } from '../../src/search/tokens/tokenizer.ts'

let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await tokenizerOf()
})

/** What the compiler has against each, by its place. */
async function complaints(texts: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-declared-'))
  const compilerOptions = {
    noEmit: true,
    strict: true,
    target: 'es2024',
    lib: ['es2024'],
    types: [],
    moduleDetection: 'force',
  }
  await Promise.all(texts.map((text, index) => writeFile(join(folder, `${index}.ts`), text)))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [tsc, '--pretty', 'false', '-p', folder], { maxBuffer: 2 ** 26 }, (_, stdout) =>
      resolve(stdout),
    ),
  )
  await rm(folder, { recursive: true, force: true })
  return output.split('\n').filter((line) => line.includes('error TS'))
}

const entry = (
  ref: string,
  inputSchema: unknown,
  { outputSchema, description }: Partial<Manifest> = {},
): Declarable => ({
  ref,
  toolkit: ref.split('.', 1)[0] as string,
  tool: ref.slice(ref.indexOf('.') + 1),
  manifest: {
    name: 'x',
    description,
    inputSchema: inputSchema as Record<string, unknown>,
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as Record<string, unknown> }),
  },
})
interface Manifest {
  outputSchema: unknown
  description: string
}
const textOf = (entries: readonly Declarable[], maxTokens = 200_000) => declare(entries, { maxTokens, tokenizer }).text

describe('the TypeScript compiler', () => {
  it('accepts declarations of tools from real servers at every budget', async () => {
    const host = await startModelHost()
    try {
      const thread = host.thread()
      const { entries } = await vi.waitFor(
        async () => {
          const loadout = await thread.loadout()
          expect(new Set(loadout.entries.map(({ toolkit }) => toolkit)).size).toBe(2)
          return loadout
        },
        { timeout: 60_000 },
      )
      expect(entries.length).toBeGreaterThan(20)
      const texts = [200, 600, 1_500, 100_000].map((maxTokens) => textOf(entries, maxTokens))
      expect(await complaints(texts)).toEqual([])
      expect(texts[3]).toContain('declare const everything: {')
      expect(texts[3]).toContain('/** Returns the sum of two numbers Also: get_sum */')
      const wrong = `${texts[3]}\nawait filesystem.read_text_file({ path: 1 })\n`
      const right = `${texts[3]}\nconst { content } = await filesystem.read_text_file({ path: 'a', head: 2 })\ncontent.trim()\n`
      expect(await complaints([right])).toEqual([])
      expect(await complaints([wrong])).toEqual([expect.stringContaining('TS2322')])
    } finally {
      await host.close()
    }
  })

  it('accepts unusual tool and type names', async () => {
    const names = [
      'new',
      'delete',
      'get',
      'set',
      'constructor',
      '__proto__',
      'then',
      'a-b',
      'a_b',
      '1',
      'é',
      '"',
      '\\',
      '*/',
      '\n',
      '\u2028',
      '\ud800',
      'async',
      'static',
      'readonly',
      'get x',
      '${x}',
      '`',
    ]
    const kits = ['new', 'console', 'a-b', 'a_b', '1', 'await', 'type', 'string', 'declare', 'x']
    const entries = kits.flatMap((kit) =>
      names.map((name) =>
        entry(`${kit}.${name}`, {
          type: 'object',
          properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
        }),
      ),
    )
    const defs = ['Promise', 'Record', 'string', 'any', '1', '', '-', 'Array', 'é', 'Input', '__proto__']
    const recursive = entry('x.defs', {
      type: 'object',
      properties: Object.fromEntries(
        defs.map((name, index) => [`p${index}`, { $ref: `#/$defs/${encodeURIComponent(name)}` }]),
      ),
      $defs: Object.fromEntries(
        defs.map((name, index) => [
          name,
          { type: 'object', description: `*/ ${name}`, properties: { [`a${index}`]: { $ref: '#' } } },
        ]),
      ),
    })
    expect(await complaints([textOf([...entries, recursive]), textOf([...entries, recursive], 2_000)])).toEqual([])
  })

  it('accepts declarations of any schema', async () => {
    const text = fc.constantFrom(
      'a',
      'b',
      '__proto__',
      'constructor',
      '*/',
      '/*',
      'a-b',
      '"',
      '\n',
      '`${',
      '\u2028',
      '\ud800',
      '',
      '0',
      '\\',
      '//',
    )
    const name = fc.constantFrom('A', 'B', 'Promise', 'a b', '__proto__')
    const ref = fc.oneof(
      name.map((one) => `#/$defs/${encodeURIComponent(one)}`),
      fc.constantFrom('#', '#/properties/a', '#A', '#/$defs', 'x', '#/anyOf/0'),
    )
    const value = fc.jsonValue({ maxDepth: 2 })
    const { schema } = fc.letrec<{ schema: unknown; map: unknown; list: unknown }>((tie) => ({
      map: fc.dictionary(fc.oneof(text, name), tie('schema'), { maxKeys: 3 }),
      list: fc.array(tie('schema'), { maxLength: 3 }),
      schema: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.constantFrom<unknown>(true, false, {}, null, 7, 'x', []),
        fc.record({ $ref: ref }),
        fc.record(
          {
            type: fc.constantFrom<unknown>(
              'string',
              'integer',
              'null',
              'boolean',
              'x',
              7,
              ['string', 'null'],
              ['object', 'array'],
            ),
            description: text,
            format: text,
            pattern: text,
            default: value,
            deprecated: fc.boolean(),
            enum: fc.array(value, { maxLength: 4 }),
            minimum: fc.double(),
            nullable: fc.boolean(),
          },
          { requiredKeys: ['type'] },
        ),
        fc.record(
          {
            type: fc.constantFrom('object', 'array'),
            properties: tie('map'),
            required: fc.array(text, { maxLength: 3 }),
            additionalProperties: tie('schema'),
            patternProperties: tie('map'),
            description: text,
            items: fc.oneof(tie('schema'), tie('list')),
            prefixItems: tie('list'),
            minItems: fc.nat(3),
          },
          { requiredKeys: [] },
        ),
        fc.record(
          { anyOf: tie('list'), oneOf: tie('list'), allOf: tie('list'), $ref: ref, const: value, not: tie('schema') },
          { requiredKeys: [] },
        ),
      ),
    }))
    const root = fc.tuple(schema, fc.dictionary(name, schema), fc.boolean()).map(([inner, $defs, isPlain]) => ({
      ...(typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {}),
      ...(isPlain ? { type: 'object' } : {}),
      $defs,
    }))
    const runs = process.env.LOADOUT_PROVE === 'full' ? 8_000 : 400
    const samples = fc.sample(fc.tuple(root, root, text), runs)
    const files = Array.from({ length: runs / 4 }, (_, file) =>
      samples
        .slice(file * 4, file * 4 + 4)
        .map(([a, b, description], index) => entry(`k.t${index}`, a, { outputSchema: b, description: description })),
    )
    const texts = files.flatMap((entries) => [textOf(entries), textOf(entries, 250)])
    const found = await complaints(texts)
    const file = Number(found[0]?.split('.')[0])
    expect(found.slice(0, 5), texts[file]).toEqual([])
    expect(texts.join('').length).toBeGreaterThan(20_000)
  })
})
