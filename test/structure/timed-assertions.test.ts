import { describe, expect, it } from 'vitest'
import { ROOT, sourcesIn } from './import-graph.ts'
import { timedAssertions } from './timed-assertions.ts'

/** Tests, and what tests share; `test/prove/` alone measures, for `npm run prove:timing`. */
const isTest = (path: string) =>
  (/\.test\.tsx?$/.test(path) || /(^|\/)test(ing)?\//.test(path)) && !path.startsWith('test/prove/')

const tests = ['packages', 'apps', 'examples', 'test']
  .flatMap((folder) =>
    sourcesIn(`${ROOT}/${folder}`, { tests: true }).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
  )
  .filter(({ path }) => isTest(path))

describe('a test', () => {
  it('never compares a clock, a lag, a memory size or a CPU time', () => {
    const found = tests.flatMap(({ path, text }) =>
      timedAssertions(path, text).map((line) => `${path}:${line} ${text.split('\n')[line - 1]?.trim()}`),
    )
    expect(found).toEqual([])
  })

  it('is never retried', () => {
    const retried = tests.filter(({ text }) => RETRIED.test(withoutTexts(text)))
    expect(retried.map(({ path }) => path)).toEqual([])
  })
})

/** The options of a test, given to it or kept in a constant. */
const RETRIED = /(\b(it|test|describe)\b[^\n]*|const \w+ = )\{[^}\n]*\bretry: ?\d/

/** Texts and templates may be what a server says. */
const withoutTexts = (text: string) => text.replace(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g, "''")

describe('the search for timed assertions', () => {
  it.each([
    ['a difference', 'const began = performance.now()\nexpect(performance.now() - began).toBeLessThan(100)'],
    ['a date', 'expect(body.expiresAt).toBeGreaterThan(Date.now() + 1000)'],
    ['a variable of a variable', 'const from = Date.now()\nconst gap = Date.now() - from\nexpect(gap).toBeLessThan(9)'],
    ['a tuple', 'const [a, b] = [0, performance.now()]\nexpect(b).toBeGreaterThan(a)'],
    [
      'an assignment in a callback',
      'let most = 0\nf(() => { most = process.memoryUsage().rss })\nexpect(most).toBeLessThan(9)',
    ],
    ['an array', 'const all: number[] = []\nall.push(performance.now())\nexpect(all[0]).toBeLessThan(1)'],
    ['a function', 'const time = () => performance.now()\nexpect(time()).toBeLessThan(1)'],
    ['a function that waits', 'async function took() { return Date.now() }\nexpect(await took()).toBeLessThan(1)'],
    ['a name', 'expect(report.heldMs).toBeLessThan(100)'],
    ['a name that is destructured', 'const { lagMs } = await during(work)\nexpect(lagMs).toBeLessThan(100)'],
    ['the other side', 'expect(count).toBeLessThanOrEqual(4 + (Date.now() - 5) / 100)'],
    ['the load of the machine', "import { loadavg } from 'node:os'"],
    ['a comparison inside expect', 'const t = Date.now()\nexpect(Date.now() - t < 100).toBe(true)'],
    ['the outcome of a comparison', 'const soon = performance.now() < 100\nexpect(soon).toBe(true)'],
    ['a check of a suite', "check(performance.now() - started < 3_000, 'soon')"],
    ['an error that is thrown', "const t = Date.now()\nif (Date.now() - t > 1000) throw new Error('late')"],
    ['a poll', 'await expect.poll(() => process.memoryUsage().rss).toBeLessThan(1e9)'],
    ['a CPU time', 'const { user } = process.cpuUsage()\nexpect(user / 1000).toBeLessThan(100)'],
  ])('finds %s', (_, text) => {
    expect(timedAssertions('planted.test.ts', `${text}\n`)).toHaveLength(1)
  })

  it.each([
    ['a time that is data', 'const at = new Date(Date.now() - 1000)\nexpect(row.expiresAt).toEqual(at)'],
    ['a count', 'const all: number[] = []\nall.push(Date.now())\nexpect(all.length).toBeGreaterThan(2)'],
    ['what is asked with a time', 'expect(await count({ from: new Date(Date.now()) })).toBeGreaterThan(5)'],
    [
      'a name in another function',
      'function a() { const t = Date.now(); return f(t) }\nfunction b(t: number) { expect(t).toBeLessThan(2) }',
    ],
    ['sizes', 'expect(text.length).toBeLessThan(2048)\nexpect(tokens.after).toBeLessThan(tokens.before)'],
    ['what the code reports', "check(usage.wallMs >= limitMs, 'not before its limit')"],
    ['an exact time of a clock that stands still', 'expect(endsAt.getTime()).toBe(Date.now() + 600_000)'],
    ['a wait', 'while (Date.now() < until) await pause()'],
  ])('lets %s pass', (_, text) => {
    expect(timedAssertions('fine.test.ts', `${text}\n`)).toEqual([])
  })
})
