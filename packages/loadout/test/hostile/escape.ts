/** Ways out that have led out of sandboxes: the constructor of something that is the host's, an error's stack, a trap. */
import type { Hostile } from './program.ts'

/** Asks with a function constructor, wherever that came from, what its world has. */
const PROBE = `
const NAMES = ['process', 'require', 'fetch', 'WebSocket', 'Worker', 'navigator', 'document', 'Buffer', 'module', 'hostCanary']
const ctor = (it) => (typeof it === 'function' ? it.constructor : Object(it).constructor.constructor)
const probe = (F) => F('names', 'return names.map((name) => typeof globalThis[name]).join()')(NAMES)
`
const SHUT_IN = { value: Array(10).fill('undefined').join() }
const probe = (expression: string): Hostile => [`${PROBE}return probe(${expression})`, SHUT_IN]
const program = (body: string): Hostile => [`${PROBE}${body}`, SHUT_IN]
/** What a stack may name: the program and its sandbox, no file of the host. */
const STACK_CLEAN = `const clean = (stack) => !/[/\\\\]|node:|file:|\\.ts|\\.js|https?:|worker|wasm/i.test(String(stack))`

export const ESCAPE_PROGRAMS: Record<string, readonly Hostile[]> = {
  'escape by constructor': [
    probe('Function'),
    probe('(() => {}).constructor'),
    probe('kit.echo.constructor'),
    probe('search.constructor'),
    probe('console.log.constructor'),
    probe('setTimeout.constructor'),
    probe('Math.random.constructor'),
    probe('Date.now.constructor'),
    probe('JSON.parse.constructor'),
    probe('input.constructor.constructor'),
    probe('input.list.constructor.constructor'),
    probe('(await kit.echo({ a: 1 })).constructor.constructor'),
    probe('(await kit.echo([1])).constructor.constructor'),
    probe('kit.echo(1).constructor.constructor'),
    probe('kit.echo(1).then.constructor'),
    probe('ToolError.constructor'),
    probe('(await kit.fail().catch((error) => error)).constructor.constructor'),
    probe('Object.getPrototypeOf(kit.echo).constructor'),
    probe('Reflect.getPrototypeOf(console.log).constructor'),
    probe('globalThis.constructor.constructor'),
    probe('Object.getOwnPropertyDescriptor(Function.prototype, "constructor").value'),
    probe('(1).constructor.constructor'),
    probe('Symbol.iterator.constructor.constructor'),
    probe('(...args) => new (class extends Function {})(...args)'),
    probe('(...args) => Reflect.construct(Function, args)'),
    probe('(0, eval)("Function")'),
    probe('eval("(function () { return this })").constructor'),
    probe('Function.prototype.bind.constructor'),
    probe('Function.prototype.call.call(Function, null, "return Function")()'),
    probe('[].map.constructor.constructor'),
    probe('new Proxy(Function, {})'),
    probe('Object.getOwnPropertyDescriptors(globalThis).console.value.log.constructor'),
  ],
  'escape by async function and generator': [
    program(
      'return await (async () => {}).constructor("names", "return names.map((n) => typeof globalThis[n]).join()")(NAMES)',
    ),
    program(
      'return (function* () {}).constructor("names", "yield names.map((n) => typeof globalThis[n]).join()")(NAMES).next().value',
    ),
    program(
      'return (await (async function* () {}).constructor("names", "yield names.map((n) => typeof globalThis[n]).join()")(NAMES).next()).value',
    ),
    program(
      'const it = (function* () { try { yield 1 } finally { yield probe(Function) } })(); it.next(); return it.return(2).value',
    ),
    program(
      'const it = (function* () { try { yield 1 } catch (e) { yield probe(e.constructor.constructor) } })(); it.next(); return it.throw(new Error("x")).value',
    ),
    program('return await new Promise((resolve) => resolve({ then: (done) => done(probe(Function)) }))'),
    program(
      'for await (const one of (async function* () { yield kit.echo(1) })()) return probe(one.constructor.constructor)',
    ),
    program('return await Promise.resolve().then(function () { return probe(ctor(this)) })'),
    program(
      'let outer; await new Promise((resolve) => setTimeout(function () { outer = this; resolve() })); return probe(ctor(outer))',
    ),
    program('let self; queueMicrotask(function () { self = this }); await 0; return probe(ctor(self))'),
    program('return await kit.echo.call({ then: 1 }, 1).then(function () { return probe(Function) })'),
    program('let args; await { then(...given) { args = given; given[0]() } }; return probe(ctor(args[0]))'),
  ],
  'escape by error and stack': [
    program('try { null.x } catch (error) { return probe(error.constructor.constructor) }'),
    program('try { (function f() { f() })() } catch (error) { return probe(error.constructor.constructor) }'),
    program('try { kit.nothing } catch (error) { return probe(error.constructor.constructor) }'),
    program('try { await import("fs") } catch (error) { return probe(error.constructor.constructor) }'),
    program('try { await kit.echo(10n) } catch (error) { return probe(error.constructor.constructor) }'),
    program('try { new Array(-1) } catch (error) { return probe(error.constructor.constructor) }'),
    program(
      'Error.prepareStackTrace = (_, sites) => sites; const sites = new Error().stack; return probe(ctor(sites?.[0]?.getFunction?.()))',
    ),
    program(
      'Error.prepareStackTrace = (_, sites) => sites; const e = await kit.fail().catch((e) => e); return probe(ctor(e.stack?.[0]?.getThis?.()))',
    ),
    program(
      'let seen; Error.prepareStackTrace = function () { seen = this; return "" }; new Error().stack; return probe(ctor(seen))',
    ),
    program(
      'Error.stackTraceLimit = 1e9; function f(n) { return n ? f(n - 1) : new Error().stack } f(100); return probe(Function)',
    ),
    [`${STACK_CLEAN}\nreturn clean(new Error().stack)`, { value: true }],
    [`${STACK_CLEAN}\ntry { (function f() { f() })() } catch (e) { return clean(e.stack) }`, { value: true }],
    [`${STACK_CLEAN}\nreturn clean((await kit.fail().catch((e) => e)).stack)`, { value: true }],
    [`${STACK_CLEAN}\nreturn clean((await import('nothing').catch((e) => e)).stack)`, { value: true }],
    [`${STACK_CLEAN}\ntry { kit.nothing } catch (e) { return clean(e.stack) }`, { value: true }],
    [
      'throw Object.assign(new Error("x"), { stack: "at f (/etc/passwd:1:1)\\n at g (program:9999999:1)" })',
      'program-error',
    ],
    ['throw { get stack() { return { toString() { throw 1 } } } }', 'program-error'],
    ['throw new AggregateError([new Error("x")], "many")', 'program-error'],
  ],
}
