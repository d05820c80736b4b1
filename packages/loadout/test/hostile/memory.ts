/** Programs that take all the memory there is, by whatever has a size. */
import type { Hostile } from './program.ts'

const bomb = (source: string): Hostile => [source, 'memory-limit']
/** Some ends of it come first: a text that is too long, a loop that is too slow. */
const either = (source: string): Hostile => [source, ['memory-limit', 'cpu-limit', 'program-error']]

export const MEMORY_PROGRAMS: Record<string, readonly Hostile[]> = {
  'memory by arrays': [
    bomb('const all = []; for (;;) all.push(new Array(1e4).fill(1))'),
    bomb('let all = [1]; for (;;) all = [...all, ...all]'),
    bomb('let all = [1]; for (;;) all = all.concat(all)'),
    bomb('new Array(1e8).fill(0)'),
    either('Array.from({ length: 2 ** 32 - 1 })'),
    either('[].concat(...Array.from({ length: 1e5 }, () => new Array(1000).fill(1)))'),
    either('const a = [1, 2]; a.length = 2 ** 32 - 1; a.sort()'),
    either('const a = []; a[2 ** 32 - 2] = 1; return [...a]'),
    bomb('let a = []; for (;;) a = [a, a.slice(), new Array(1000).fill(a)]'),
    bomb('try { const all = []; for (;;) all.push(new Array(1e4).fill(1)) } catch { for (;;); }'),
    bomb('const keep = []; for (;;) try { keep.push(new Array(1e5).fill(1)) } catch {}'),
    either('Array.from((function* () { for (;;) yield {} })())'),
    either('[...(function* () { for (;;) yield 1 })()]'),
    either('new Array(1000).fill(new Array(1000).fill(new Array(1000).fill(1))).flat(Infinity)'),
  ],
  'memory by buffers': [
    bomb('new ArrayBuffer(1e9)'),
    bomb('const all = []; for (;;) all.push(new ArrayBuffer(1e6))'),
    bomb('const all = []; for (;;) all.push(new Uint8Array(1e5).fill(1))'),
    either('new Uint8Array(2 ** 31)'),
    either('new Float64Array(2 ** 53)'),
    either('new ArrayBuffer(8, { maxByteLength: 2 ** 40 })'),
    either('const b = new ArrayBuffer(8, { maxByteLength: 1e9 }); b.resize(1e9)'),
    either('const all = []; let b = new ArrayBuffer(1e6); for (;;) { b = b.transfer(b.byteLength * 2); all.push(b) }'),
    bomb('const all = []; for (let u = new Uint8Array(1e6); ; ) all.push(u.slice())'),
  ],
  'memory by strings': [
    either('let s = "x"; for (;;) s += s'),
    either('"x".repeat(2 ** 29)'),
    either('"x".padEnd(2 ** 29, "yz")'),
    bomb('const all = []; for (let i = 0; ; i++) all.push("x".repeat(1e5) + i)'),
    either('"x".repeat(1e6).replaceAll("x", "y".repeat(1000))'),
    either('"x".repeat(1e6).split("").map((c) => c + c)'),
    either('new Array(1e5).join("x".repeat(1e4))'),
    either('let s = "abc"; const all = []; for (;;) { s = s.normalize() + s.toUpperCase(); all.push([...s]) }'),
    either('const all = []; for (;;) all.push(JSON.parse("[" + "1,".repeat(1e5) + "1]"))'),
    either('let s = "ü".repeat(1e5); for (;;) s = encodeURIComponent(s)'),
    either('let s = "x".repeat(1e5); for (;;) s = JSON.stringify(s)'),
    either('String.raw({ raw: new Array(1e6).fill("x".repeat(100)) })'),
    either('"x".repeat(1e7).match(/x/g)'),
  ],
  'memory by maps, objects and the rest': [
    bomb('const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })'),
    bomb('const s = new Set(); for (let i = 0; ; i++) s.add("key " + i)'),
    bomb('const o = {}; for (let i = 0; ; i++) o["key " + i] = i'),
    bomb('const all = []; for (let i = 0; ; i++) all.push(Symbol("x" + i))'),
    bomb('const all = []; for (;;) all.push(() => all)'),
    bomb('const all = []; for (;;) all.push(new Error("x"))'),
    bomb('const all = []; for (;;) all.push(new Promise(() => {}))'),
    bomb(
      'const w = new WeakMap(), keys = []; for (;;) { const k = {}; keys.push(k); w.set(k, new Array(10).fill(k)) }',
    ),
    either('let n = 2n; for (;;) n *= n'),
    either('2n ** 100000000n'),
    either('1n << 10000000000n'),
    bomb('const all = []; for (let i = 0n; ; i++) all.push(1n << 100000n)'),
    either('let f = () => 1; for (;;) f = f.bind(null, f)'),
    either('let p = Promise.resolve(); for (;;) p = p.then(() => p)'),
    bomb('const all = []; for (;;) all.push((function* () { yield all })())'),
    bomb('class A { a = new Array(100).fill(this) } const all = []; for (;;) all.push(new A())'),
    either('let c = class {}; for (;;) c = class extends c {}'),
    either(
      'const all = []; for (let i = 0; ; i++) all.push(new Function("return " + i + " + " + "1 + ".repeat(1000) + "1"))',
    ),
  ],
  'memory by regular expressions': [
    either('const all = []; for (let i = 0; ; i++) all.push(new RegExp("(a|b)".repeat(100) + i))'),
    either('const all = []; for (;;) all.push(new RegExp("a".repeat(1e6)))'),
    either('const all = []; for (;;) all.push(/(.*)(.*)(.*)(.*)(.*)$/s.exec("x".repeat(1e6)))'),
    either('"x".repeat(1e5).replace(/x/g, "$`$\'")'),
    either('const all = []; for (;;) all.push("ab".repeat(1e5).split(/(a)(b)/))'),
  ],
}
