/** Executor cases for limits: each ends the program with its own error exactly when it is reached. */
import type { BridgeResult } from '../../../code-mode/executor.ts'
import { check } from '../../check.ts'
import { type ExecutorCase, ends, expectFailure, expectSame, expectValue, NOW, run, wait } from './case.ts'

const MiB = 1024 * 1024
const never = { call: () => new Promise<BridgeResult>(() => {}) }

export const limitCases: Record<string, ExecutorCase> = {
  'the memory limit stops every kind of allocation and cannot be caught': async (executor) => {
    const limits = { memoryBytes: 16 * MiB }
    for (const source of [
      'const all = []; for (;;) all.push(new Array(1000).fill(1))',
      'const all = []; for (;;) all.push(new ArrayBuffer(1e6))',
      "let text = 'x'; const all = []; for (let i = 0; ; i++) all.push(text.repeat(1e5) + i)",
      'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i })',
      'try { const all = []; for (;;) all.push(new Array(1000).fill(1)) } catch { return 1 } finally { return 2 }',
      'new ArrayBuffer(1e9)',
    ]) {
      const { code, execution } = await expectFailure(executor, source, { limits })
      expectSame(code, 'memory-limit', source)
      check((execution.usage.memoryBytes ?? 0) <= 32 * MiB, `${execution.usage.memoryBytes} bytes: ${source}`)
    }
    expectSame(await expectValue(executor, 'return new ArrayBuffer(8e6).byteLength', { limits }), 8e6, 'what fits')
    expectSame(
      await expectValue(executor, 'return new ArrayBuffer(1e8).byteLength', { limits: { memoryBytes: 128 * MiB } }),
      1e8,
    )
  },

  'the CPU limit counts computing and not waiting': async (executor) => {
    const limits = { cpuMs: 300 }
    for (const source of ['for (;;);', 'for (;;) await 0', 'try { for (;;); } catch { return 1 } finally { return 2 }'])
      await ends(executor, source, { limits, code: 'cpu-limit', limitMs: 300 })
    const slow = async (): Promise<BridgeResult> => {
      await wait(200)
      return { value: 1, at: NOW }
    }
    expectSame(
      await expectValue(executor, 'await kit.slow(); await kit.slow(); return 1', { limits, bridge: { call: slow } }),
      1,
    )
    const bit = `
      const until = Date.now()
      for (let i = 0; i < 8; i++) { for (let j = 0; j < 1e5; j++); await kit.echo() }
      return 1`
    expectSame(await expectValue(executor, bit, { limits: { cpuMs: 3_000 } }), 1, 'what is less')
  },

  'the CPU limit also counts work inside the engine': async (executor) => {
    const limits = { cpuMs: 200 }
    const huge = '(1n << 400000n) - 1n'
    const sorted = 'Array.from({ length: 3e5 }, (_, i) => -i)'
    for (const source of [
      `const n = ${huge}; for (;;) n * n`,
      `for (;;) ${sorted}.sort()`,
      '/(a+)+b/.test("a".repeat(40))',
    ])
      await ends(executor, source, { limits, code: 'cpu-limit', limitMs: 200 })
  },

  'the time limit applies with and without waiting': async (executor) => {
    const limits = { wallMs: 300 }
    await ends(executor, 'await kit.slow()', { limits, code: 'time-limit', limitMs: 300, bridge: never })
    await ends(executor, 'for (;;);', { limits, code: 'time-limit', limitMs: 300 })
    const { logs } = await run(executor, "console.log('before'); for (;;);", { limits })
    expectSame(logs, [{ level: 'log', text: 'before' }], 'what it had logged')
  },

  'the call limit stops a program after its allowed number of calls': async (executor) => {
    const limits = { calls: 10 }
    const source = (n: number) => `for (let i = 0; i < ${n}; i++) await kit.echo(i); return 'done'`
    expectSame(await expectValue(executor, source(10), { limits }), 'done')
    expectSame((await expectFailure(executor, source(11), { limits })).code, 'call-limit')
    const caught = await expectFailure(executor, 'for (;;) try { await kit.echo() } catch { }', { limits })
    expectSame([caught.code, caught.execution.usage.calls], ['call-limit', 10])
  },

  'the parallel call limit stops a program with too many pending calls': async (executor) => {
    const limits = { parallelCalls: 10 }
    const source = (n: number) => `
      for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: ${n} }, (_, i) => kit.echo(i)))
      return 'done'`
    expectSame(await expectValue(executor, source(10), { limits }), 'done')
    expectSame((await expectFailure(executor, source(11), { limits })).code, 'parallel-limit')
    expectSame(
      (await expectFailure(executor, 'for (;;) kit.echo().catch(() => {})', { limits })).code,
      'parallel-limit',
    )
  },

  'the log limit counts bytes': async (executor) => {
    const limits = { logBytes: 1000 }
    expectSame(
      await expectValue(executor, "for (let i = 0; i < 10; i++) console.log('x'.repeat(99)); return 1", { limits }),
      1,
    )
    const { code, execution } = await expectFailure(executor, "for (;;) console.log('ü'.repeat(49))", { limits })
    expectSame([code, execution.logs.length], ['log-limit', 10])
    expectSame((await expectFailure(executor, "console.log('x'.repeat(1e6))", { limits })).code, 'log-limit')
    expectSame((await expectFailure(executor, 'for (;;) console.log()', { limits })).code, 'log-limit')
    expectSame(
      (await expectFailure(executor, "for (;;) try { console.log('x') } catch {}", { limits })).code,
      'log-limit',
    )
  },

  'the result limit counts bytes': async (executor) => {
    const limits = { resultBytes: 1000 }
    expectSame(((await expectValue(executor, "return 'x'.repeat(998)", { limits })) as string).length, 998)
    expectSame((await expectFailure(executor, "return 'x'.repeat(999)", { limits })).code, 'result-limit')
    expectSame((await expectFailure(executor, "return 'ü'.repeat(500)", { limits })).code, 'result-limit')
    expectSame((await expectFailure(executor, "return 'x'.repeat(3e6)")).code, 'result-limit')
  },

  'the argument limit counts bytes': async (executor) => {
    const limits = { argumentBytes: 1000 }
    expectSame(await expectValue(executor, "return (await kit.echo('x'.repeat(996))).length", { limits }), 996)
    expectSame((await expectFailure(executor, "await kit.echo('x'.repeat(997))", { limits })).code, 'argument-limit')
    expectSame(
      (await expectFailure(executor, "try { await kit.echo('x'.repeat(997)) } catch { return 1 }", { limits })).code,
      'argument-limit',
    )
    const flood = "for (let i = 0; i < 100; i++) kit.echo('x'.repeat(900))"
    expectSame((await expectFailure(executor, flood, { limits })).code, 'argument-limit', 'of all that wait')
  },

  'the argument limit counts values at any depth': async (executor) => {
    const limits = { argumentValues: 100 }
    const most = 'kit.echo(Array.from({ length: 98 }, (_, n) => n))'
    expectSame(await expectValue(executor, `return (await ${most}).length`, { limits }), 98)
    expectSame(
      await expectValue(executor, "return (await kit.echo(',[{'.repeat(500))).length", { limits }),
      1500,
      'a text is one',
    )
    for (const argument of [
      'Array(101).fill(0)',
      'Array(51).fill([0])',
      "Object.fromEntries(Array(51).fill(0).map((_, n) => ['k' + n, n]))",
    ])
      expectSame(
        (await expectFailure(executor, `await kit.echo(${argument})`, { limits })).code,
        'argument-limit',
        argument,
      )
  },

  'the executor runs the next program after each kind of failure': async (executor) => {
    const bombs = [
      'for (;;);',
      'const a = []; for (;;) a.push(new Array(1e4).fill(0))',
      'for (;;) kit.echo()',
      'function f() { f() } f()',
    ]
    for (const source of bombs) {
      const { status } = await run(executor, source, { limits: { cpuMs: 100, memoryBytes: 8 * MiB } })
      expectSame(status, 'failed', source)
      expectSame(await expectValue(executor, 'return 1'), 1, `after ${source}`)
    }
  },
}
