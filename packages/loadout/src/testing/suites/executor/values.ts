/** Executor cases for values that enter and leave a program: only JSON passes. */
import type { BridgeCall, BridgeResult } from '../../../code-mode/executor.ts'
import { check } from '../../check.ts'
import { answer, type ExecutorCase, expectFailure, expectSame, expectValue, NOW } from './case.ts'

export const valueCases: Record<string, ExecutorCase> = {
  'values that are not JSON are converted by the rules of JSON': async (executor) => {
    expectSame(await expectValue(executor, 'return undefined'), null)
    expectSame(await expectValue(executor, 'return () => 1'), null)
    expectSame(await expectValue(executor, 'return Symbol()'), null)
    expectSame(await expectValue(executor, 'return { a: undefined, b: NaN, c: [undefined], d: new Date(0) }'), {
      b: null,
      c: [null],
      d: '1970-01-01T00:00:00.000Z',
    })
    expectSame(await expectValue(executor, 'return { toJSON: () => 5 }'), 5)
    expectSame(await expectValue(executor, 'return { a: { constructor: 1, prototype: 2 } }'), {
      a: { constructor: 1, prototype: 2 },
    })
  },

  'a result that cannot be serialized fails the program with the reason': async (executor) => {
    for (const [source, word] of [
      ['const a = {}; a.a = a; return a', 'circular'],
      ['return 10n', 'BigInt'],
      ["return { get a() { throw new Error('mine') } }", 'mine'],
      ['return JSON.parse(\'{ "__proto__": { "admin": true } }\')', '__proto__'],
      ['return { a: [{ ["__proto__"]: 1 }] }', '__proto__'],
      ['let a = []; for (let i = 0; i < 200; i++) a = [a]; return a', 'nested'],
      ["return 'a\\0b'", 'NUL'],
      ["return 'a\\ud800b'", 'half a character'],
    ] as const) {
      const { code, message } = await expectFailure(executor, source)
      expectSame(code, 'program-error', source)
      check(message.includes(word), `${source}: ${message}`)
    }
  },

  'arguments that cannot be serialized throw an exception and make no call': async (executor) => {
    const made: BridgeCall[] = []
    const call = (request: BridgeCall) => {
      made.push(request)
      return answer(request)
    }
    const source = `
      const cycle = {}; cycle.cycle = cycle
      const codes = []
      for (const bad of [cycle, 10n, JSON.parse('{ "__proto__": 1 }'), { get a() { throw 1 } }, 'a\\0'])
        try { await kit.echo(bad) } catch (error) { codes.push(error.code) }
      return codes`
    expectSame(await expectValue(executor, source, { bridge: { call } }), Array(5).fill('invalid-arguments'))
    expectSame(made, [])
  },

  'answers reach the program unchanged': async (executor) => {
    const answerValue = {
      text: 'ü漢😀\u2028\0',
      list: [1.5, -0, 1e300, null],
      deep: { __proto__x: 1 },
      ['__proto__']: 1,
    }
    const raw = JSON.parse('{ "__proto__": { "polluted": true }, "a": 1 }')
    const call = async ({ arguments: [which] }: BridgeCall): Promise<BridgeResult> => ({
      value: which === 'raw' ? raw : answerValue,
      at: NOW,
    })
    expectSame(
      await expectValue(executor, "const { text } = await kit.echo(); return text === 'ü漢😀\\u2028\\0'", {
        bridge: { call },
      }),
      true,
    )
    const pollution = `
      const got = await kit.echo('raw')
      return [({}).polluted === undefined, Object.keys(got), Object.getPrototypeOf(got) === Object.prototype]`
    expectSame(await expectValue(executor, pollution, { bridge: { call } }), [true, ['__proto__', 'a'], true])
  },

  'large values pass up to their limits': async (executor) => {
    const size = 500_000
    expectSame(((await expectValue(executor, `return 'x'.repeat(${size})`)) as string).length, size)
    expectSame(await expectValue(executor, "return (await kit.echo('ü'.repeat(120_000))).length"), 120_000)
    const rows = (await expectValue(executor, 'return Array.from({ length: 20000 }, (_, i) => ({ i }))')) as unknown[]
    expectSame(rows.length, 20_000)
  },
}
