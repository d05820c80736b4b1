/**
 * Executor contract as cases for any driver: `for (const { name, run } of executorSuite(open)) …`. The cases share an
 * executor, like programs do. They use no test framework, so they run in Node, in a browser and in your CI.
 */
import type { BridgeCall, BridgeResult, Executor } from '../../../code-mode/executor.ts'
import { check } from '../../check.ts'
import type { SuiteCase } from '../../suite-case.ts'
import { answer, type ExecutorCase, expectFailure, expectSame, expectValue, NOW, run } from './case.ts'
import { limitCases } from './limits.ts'
import { sameCases } from './same.ts'
import { valueCases } from './values.ts'

const cases: Record<string, ExecutorCase> = {
  'a program is the body of an async function and its return value is the result': async (executor) => {
    expectSame(await expectValue(executor, 'const one = await 1\nreturn { one, list: [true, null, "ü漢😀"] }'), {
      one: 1,
      list: [true, null, 'ü漢😀'],
    })
    expectSame(await expectValue(executor, ''), null, 'of a program without anything')
    expectSame(await expectValue(executor, 'return 1 // and a comment at its end'), 1, 'with a comment at the end')
  },

  'a program reads its input and can redeclare the name': async (executor) => {
    expectSame(await expectValue(executor, 'return input.a[1]', { input: { a: [1, 2] } }), 2)
    expectSame(await expectValue(executor, 'const input = 5; return input', { input: 1 }), 5)
    expectSame(await expectValue(executor, 'return input'), null, 'where there is none')
  },

  'tools are functions of their toolkit and other functions are global': async (executor) => {
    const calls: BridgeCall[] = []
    const call = (made: BridgeCall) => {
      calls.push(made)
      return answer(made)
    }
    const source = `
      await kit.echo({ a: 1 })
      await kit['list-all']()
      await globalThis['two-words'].echo(1, 'two', undefined)
      return search('x')`
    await expectValue(executor, source, { bridge: { call } })
    expectSame(calls, [
      { seq: 0, object: 'kit', name: 'echo', arguments: [{ a: 1 }] },
      { seq: 1, object: 'kit', name: 'list-all', arguments: [] },
      { seq: 2, object: 'two-words', name: 'echo', arguments: [1, 'two'] },
      { seq: 3, object: '', name: 'search', arguments: ['x'] },
    ])
    expectSame(await expectValue(executor, 'return [Object.keys(kit), typeof kit.echo, kit.echo.name]'), [
      ['echo', 'fail', 'list-all', 'slow'],
      'function',
      'echo',
    ])
  },

  'an unknown tool fails with a list of the available tools': async (executor) => {
    const { message, line } = await expectFailure(executor, '\nawait kit.ecko({})')
    check(/kit.*ecko.*echo, fail/.test(message), `the message names what there is: ${message}`)
    expectSame(line, 2, 'the line')
    expectSame(await expectValue(executor, 'return await (async () => kit)() === kit'), true, 'a toolkit is no promise')
    for (const used of ['String(kit)', '`of ${kit}`', 'kit + 1']) {
      const wrong = await expectFailure(executor, `return ${used}`)
      check(/kit is a toolkit.*echo, fail/.test(wrong.message), `${used} says what it is: ${wrong.message}`)
    }
  },

  'calls start immediately and wait in parallel': async (executor) => {
    const waiting: (() => void)[] = []
    const call = (made: BridgeCall) =>
      new Promise<BridgeResult>((resolve) => {
        waiting.push(() => resolve({ value: made.seq, at: NOW }))
        // Resolved in reverse order once all calls arrived.
        if (waiting.length === 3) setTimeout(() => waiting.toReversed().map((go) => go()))
      })
    const source = `
      const order = []
      const all = await Promise.all(['a', 'b', 'c'].map(async (name) => {
        const seq = await kit.echo(name)
        order.push(seq)
        return seq
      }))
      return { all, order }`
    expectSame(await expectValue(executor, source, { bridge: { call } }), { all: [0, 1, 2], order: [2, 1, 0] })
  },

  'answers arrive in the order they are given and continuations run between them': async (executor) => {
    const made: string[] = []
    const afterFast = Promise.withResolvers<void>()
    const call = async ({ arguments: [name] }: BridgeCall): Promise<BridgeResult> => {
      made.push(String(name))
      if (name === 'after fast') afterFast.resolve()
      if (name === 'slow') await afterFast.promise
      return { value: null, at: NOW }
    }
    const source = `
      const both = ['slow', 'fast'].map((name) => kit.echo(name).then(() => kit.echo('after ' + name)))
      await Promise.all(both)`
    await expectValue(executor, source, { bridge: { call } })
    expectSame(made, ['slow', 'fast', 'after fast', 'after slow'])
  },

  'a tool failure is an exception with its code': async (executor) => {
    const source = `
      try { await kit.fail() } catch (error) {
        return [error.code, error.message, error.data, error.name, error instanceof Error, error instanceof ToolError]
      }`
    expectSame(await expectValue(executor, source), [
      'not-found',
      'There is none.',
      { seq: 0 },
      'ToolError',
      true,
      true,
    ])
    const { code, message, line } = await expectFailure(executor, 'const a = 1\n\nawait kit.fail()')
    expectSame([code, line], ['program-error', 3], 'where it is not caught')
    check(message.includes('There is none.') && message.includes('not-found'), `the message: ${message}`)
  },

  'an unhandled rejection does not fail the program': async (executor) => {
    expectSame(await expectValue(executor, 'kit.fail(); kit.fail(); Promise.reject(1); return 5'), 5)
    expectSame(await expectValue(executor, 'kit.fail(); await kit.echo(1); await kit.echo(2); return 6'), 6)
  },

  'a bridge failure is an internal exception without the message of the host': async (executor) => {
    const call = async (): Promise<BridgeResult> => {
      throw new Error('a secret of the host')
    }
    const source = 'try { await kit.echo() } catch (error) { return [error.code, error.message] }'
    const [code, message] = (await expectValue(executor, source, { bridge: { call } })) as string[]
    expectSame(code, 'internal')
    check(!message?.includes('secret'), 'what the host threw stays there')
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const strange = async (): Promise<BridgeResult> => ({ value: cycle, at: NOW })
    expectSame(((await expectValue(executor, source, { bridge: { call: strange } })) as string[])[0], 'internal')
  },

  'log entries are kept by level and in order': async (executor) => {
    const source = `
      console.log('one', 1, { a: [1] }, undefined, null, 10n, new TypeError('x'))
      console.info('i'); console.warn('w'); console.error('e'); console.debug('d')
      await kit.echo()
      const cycle = {}; cycle.cycle = cycle
      console.log(cycle); console.log(kit.echo); console.log()`
    const { logs } = await run(executor, source)
    expectSame(logs.slice(0, 5), [
      { level: 'log', text: 'one 1 {"a":[1]} undefined null 10n TypeError: x' },
      { level: 'info', text: 'i' },
      { level: 'warn', text: 'w' },
      { level: 'error', text: 'e' },
      { level: 'debug', text: 'd' },
    ])
    expectSame(logs.length, 8)
    expectSame(logs[6]?.text, '[function echo]')
    const failed = await run(executor, "console.log('before'); throw new Error('x')")
    expectSame(failed.logs, [{ level: 'log', text: 'before' }], 'of one that failed')
  },

  'a program that waits for a promise that never resolves fails at once': async (executor) => {
    const { code, message } = await expectFailure(executor, 'await new Promise(() => {})')
    expectSame(code, 'program-error')
    check(message.includes('never comes'), message)
    expectSame((await expectFailure(executor, 'await kit.echo(); await new Promise(() => {})')).code, 'program-error')
    expectSame(
      (await expectFailure(executor, 'await { then() {} }')).code,
      'program-error',
      'a thenable that does nothing',
    )
  },

  'errors have the line numbers of the program': async (executor) => {
    const at = async (source: string) => {
      const { code, line } = await expectFailure(executor, source)
      return [code, line]
    }
    expectSame(await at('null.x'), ['program-error', 1])
    expectSame(await at('const a = 1\nfunction f() {\n  return a.b.c\n}\nf()'), ['program-error', 3])
    expectSame(await at("await kit.echo()\nthrow new Error('x')"), ['program-error', 2])
    expectSame(await at('let a = 1\nlet b = {;'), ['syntax-error', 2])
    expectSame(await at('let a = 1\nif (a) {'), ['syntax-error', 2])
    expectSame((await at("import fs from 'fs'"))[0], 'syntax-error')
    const { stack } = await expectFailure(executor, 'function f() {\n  throw new Error("x")\n}\nf()')
    expectSame(
      stack?.split('\n').map((frame) => frame.match(/program:\d+/)?.[0]),
      ['program:2', 'program:4'],
    )
  },

  'every thrown value has a message': async (executor) => {
    const messageOf = async (thrown: string) => (await expectFailure(executor, `throw ${thrown}`)).message
    expectSame(await messageOf("'text'"), 'text')
    expectSame(await messageOf('null'), 'null')
    expectSame(await messageOf('{ a: 1 }'), '{"a":1}')
    expectSame(await messageOf("new RangeError('x')"), 'RangeError: x')
    for (const thrown of [
      'Object.create(null)',
      '{ get message() { throw 1 } }',
      'Symbol()',
      'new Proxy({}, { get() { throw 1 } })',
      '() => 1',
    ])
      check((await messageOf(thrown)) !== '', thrown)
  },

  'many programs run in parallel without affecting each other': async (executor) => {
    const source = `
      let sum = 0
      for (let i = 0; i < 5; i++) sum += await kit.echo(input + i)
      return sum`
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => expectValue(executor, source, { input: i })))
    expectSame(
      all,
      Array.from({ length: 20 }, (_, i) => i * 5 + 10),
    )
  },

  'the executor reports the resource usage of a program': async (executor) => {
    const { usage } = await run(executor, 'await kit.echo(); await kit.slow(); for (let i = 0; i < 3e5; i++);')
    expectSame(usage.calls, 2)
    check(usage.wallMs > 0 && usage.cpuMs >= 0 && usage.cpuMs <= usage.wallMs + 50, JSON.stringify(usage))
    check(usage.memoryBytes === undefined || usage.memoryBytes > 0, 'the memory')
  },

  'cancellation stops a program before it starts, while it waits and while it computes': async (executor) => {
    const before = AbortSignal.abort()
    expectSame((await expectFailure(executor, 'return 1', { signal: before })).code, 'cancelled')
    const never = () => new Promise<BridgeResult>(() => {})
    for (const source of ['await kit.slow()', 'for (;;);', 'for (;;) await 0']) {
      const signal = AbortSignal.timeout(100)
      expectSame((await expectFailure(executor, source, { signal, bridge: { call: never } })).code, 'cancelled', source)
    }
    expectSame(await expectValue(executor, 'return 1'), 1, 'and the next runs')
  },
}

export function executorSuite(executor: () => Executor): SuiteCase[] {
  return Object.entries({ ...cases, ...sameCases, ...valueCases, ...limitCases }).map(([name, body]) => ({
    name,
    run: () => body(executor()),
  }))
}
