import { describe, expect, it } from 'vitest'
import { tokenizerOf } from '../../search/tokens/tokenizer.ts'
import { declare } from '../declarations/declarations.ts'
import { readProgram } from './read-program.ts'

describe('code mode in a browser', () => {
  it('parses programs', async () => {
    const read = await readProgram({ source: '```ts\nasync (): Promise<number> => {\n  return 1 as number\n}\n```' })
    expect(read).toEqual({
      ok: true,
      language: 'typescript',
      source: '\nreturn (async ()                  => {\n  return 1          \n})()\n',
    })
    expect(await readProgram({ source: 'return 1 +' })).toMatchObject({ ok: false, error: { line: 1, column: 11 } })
    expect(await readProgram({ source: '<T>('.repeat(40) + ')'.repeat(40) })).toMatchObject({ ok: false })
  })

  it('declares tools', async () => {
    const manifest = { name: 'f', inputSchema: { type: 'object', properties: { a: { enum: [1, 'x'] } } } }
    const { text, left } = declare([{ ref: 'my-kit.f', toolkit: 'my-kit', tool: 'f', manifest }], {
      maxTokens: 200,
      tokenizer: await tokenizerOf(),
    })
    expect(left).toEqual([])
    expect(text).toContain('declare const my_kit: {\n  f(input?: { a?: 1 | "x" }): Promise<unknown>;\n};\n')
  })
})
