/** Redaction case by case. No stored secret passes for any input, and the work is bounded. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { MASK } from '../../toolkits/secrets/redact.ts'
import { redactArguments } from './redact-arguments.ts'

const work = newWork()

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const hidden = { type: 'string', writeOnly: true }
const password = { type: 'string', format: 'password' }
const text = { type: 'string' }

interface Case {
  schema?: object
  args: Record<string, unknown>
  secrets?: string[]
  redacted: unknown
}

const CASES: Record<string, Case> = {
  'plain values stay': {
    schema: object({ path: text }),
    args: { path: '/tmp/a', n: 3, on: true, none: null, list: [1, 'b'], deep: { a: { b: 'c' } } },
    redacted: { path: '/tmp/a', n: 3, on: true, none: null, list: [1, 'b'], deep: { a: { b: 'c' } } },
  },
  writeOnly: { schema: object({ pin: hidden, n: text }), args: { pin: 'x', n: 'y' }, redacted: { pin: MASK, n: 'y' } },
  'writeOnly of any type but null': {
    schema: object({ a: { writeOnly: true }, b: { writeOnly: true }, c: { writeOnly: true }, d: { writeOnly: true } }),
    args: { a: { x: 1 }, b: [1], c: true, d: null },
    redacted: { a: MASK, b: MASK, c: MASK, d: null },
  },
  'format password': { schema: object({ p: password }), args: { p: 'x' }, redacted: { p: MASK } },
  nested: {
    schema: object({ a: object({ b: object({ c: hidden }) }) }),
    args: { a: { b: { c: 'x', d: 'y' } } },
    redacted: { a: { b: { c: MASK, d: 'y' } } },
  },
  'items of a list': {
    schema: object({ l: { type: 'array', items: hidden } }),
    args: { l: ['x', 'y'] },
    redacted: { l: [MASK, MASK] },
  },
  'one place of a list': {
    schema: object({ l: { prefixItems: [text, hidden], items: text } }),
    args: { l: ['a', 'b', 'c'] },
    redacted: { l: ['a', MASK, 'c'] },
  },
  'items of the older kind': {
    schema: object({ l: { items: [text, hidden], additionalItems: hidden } }),
    args: { l: ['a', 'b', 'c'] },
    redacted: { l: ['a', MASK, MASK] },
  },
  additionalProperties: {
    schema: object({ a: text }, { additionalProperties: hidden }),
    args: { a: 'x', b: 'y' },
    redacted: { a: 'x', b: MASK },
  },
  patternProperties: {
    schema: object({}, { patternProperties: { '^x': hidden } }),
    args: { xa: 'y' },
    redacted: { xa: MASK },
  },
  '$ref into $defs': {
    schema: object({ a: { $ref: '#/$defs/s' } }, { $defs: { s: hidden } }),
    args: { a: 'x' },
    redacted: { a: MASK },
  },
  '$ref by anchor': {
    schema: object({ a: { $ref: '#s' } }, { $defs: { s: { ...hidden, $anchor: 's' } } }),
    args: { a: 'x' },
    redacted: { a: MASK },
  },
  '$ref with escapes': {
    schema: object({ a: { $ref: '#/$defs/a~1b%20c' } }, { $defs: { 'a/b c': hidden } }),
    args: { a: 'x' },
    redacted: { a: MASK },
  },
  'a schema that refers to itself': {
    schema: object({ child: { $ref: '#' }, s: hidden }),
    args: { child: { child: { s: 'x', t: 'y' } } },
    redacted: { child: { child: { s: MASK, t: 'y' } } },
  },
  'in one branch of many': {
    schema: object({ a: { anyOf: [text, { oneOf: [{ allOf: [hidden] }] }] } }),
    args: { a: 'x' },
    redacted: { a: MASK },
  },
  'behind if and then': {
    schema: object({ a: text }, JSON.parse('{"if":{},"then":{"properties":{"a":{"writeOnly":true}}}}')),
    args: { a: 'x' },
    redacted: { a: MASK },
  },
  'names that look like secrets': {
    args: {
      apiKey: 'x',
      api_token: 1,
      Authorization: { a: 1 },
      client_secret: ['x'],
      passwd: 'x',
      cookie: 'x',
      city: 'x',
    },
    redacted: {
      apiKey: MASK,
      api_token: MASK,
      Authorization: MASK,
      client_secret: MASK,
      passwd: MASK,
      cookie: MASK,
      city: 'x',
    },
  },
  'a switch with such a name stays': {
    args: { useToken: true, token: null },
    redacted: { useToken: true, token: null },
  },
  'a stored credential, whole': { args: { a: 'hunter22' }, secrets: ['hunter22'], redacted: { a: MASK } },
  'and inside a text': { args: { a: 'x hunter22 y' }, secrets: ['hunter22'], redacted: { a: `x ${MASK} y` } },
  'and as a number': { args: { a: 123456 }, secrets: ['123456'], redacted: { a: MASK } },
  'and as a name': { args: { hunter22: 1 }, secrets: ['hunter22'], redacted: { [MASK]: 1 } },
  'and as JSON writes it': { args: { a: '{"p":"a\\"b12"}' }, secrets: ['a"b12'], redacted: { a: `{"p":"${MASK}"}` } },
  'line by line': { args: { a: 'abcdefgh' }, secrets: ['abcdefgh\nijklmnop'], redacted: { a: MASK } },
  'the short one only whole': { args: { a: 'on', b: 'onto' }, secrets: ['on'], redacted: { a: MASK, b: 'onto' } },
  'keys by their form': {
    args: {
      a: 'use ghp_0123456789abcdefghij0123 please',
      b: 'sk-abcdefghijklmnop',
      c: 'a commit 0a56ee8f0a56ee8f0a56ee8f',
    },
    redacted: { a: `use ${MASK} please`, b: MASK, c: 'a commit 0a56ee8f0a56ee8f0a56ee8f' },
  },
  'what reaches for a prototype': { args: JSON.parse('{"__proto__":{"a":1}}'), redacted: { '(__proto__)': { a: 1 } } },
  'what a database refuses': { args: { a: 'x\0y\ud800' }, redacted: { a: 'x\u2400y\ufffd' } },
}

describe('redacted arguments', () => {
  it.each(Object.entries(CASES))('%s', (_, { schema, args, secrets, redacted }) =>
    expect(redactArguments(args, { schema, secrets })).toEqual(redacted),
  )

  it('are truncated, and never inside a secret', () => {
    const secret = 'correct-horse-battery'
    for (let before = 470; before < 510; before++) {
      const { a } = redactArguments({ a: `${'x'.repeat(before)}${secret}${'y'.repeat(1000)}` }, { secrets: [secret] })
      expect(a).not.toContain('corr')
      expect(String(a).length).toBeLessThan(560)
    }
    // Masks are shorter than what they hide, so the end of what was looked at moves forward.
    const many = `${secret.repeat(40)}`
    for (let cut = 0; cut < 40; cut++)
      expect(JSON.stringify(redactArguments({ a: 'x'.repeat(cut) + many }, { secrets: [secret] }))).not.toMatch(
        /corr|batt/,
      )
  })

  it('are bounded in size for any input', () => {
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field ${i}`, 'x'.repeat(10_000)]))
    let deep: Record<string, unknown> = { end: 'x' }
    for (let i = 0; i < 5000; i++) deep = { deep }
    for (const args of [wide, deep, { a: Array(100_000).fill('y') }, { a: Array(60).fill(Array(60).fill(wide)) }])
      expect(JSON.stringify(redactArguments(args)).length).toBeLessThan(8192)
  })

  it('stay hidden with a hostile schema, which causes no error', () => {
    const ring: Record<string, unknown> = { allOf: [] }
    ;(ring.allOf as unknown[]).push(ring, { anyOf: [ring] })
    const bomb = {
      anyOf: Array(3000)
        .fill(0)
        .map((_, i) => ({ $ref: `#/$defs/${i % 5}` })),
    }
    const hostile = [
      ring,
      { properties: 1, allOf: 'x', items: null, $ref: 3 },
      { $ref: '#/%E0%A4%A' },
      { patternProperties: { '(a+)+$': {} } },
      { $defs: { ...Array(5).fill(bomb) }, ...bomb, properties: { a: bomb } },
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no')
          },
        },
      ),
      null,
      'x',
    ]
    for (const schema of hostile) {
      const args = { a: `${'a'.repeat(30)}!`, b: [{ c: 'hunter22' }] }
      const redacted = work.within({ steps: 500_000, ms: 500 }, () =>
        redactArguments(args, { schema, secrets: ['hunter22'] }),
      )
      expect(JSON.stringify(redacted)).not.toContain('hunter22')
    }
  })

  it('mask a secret that is spelled like a built-in name', () => {
    for (const secret of ['__proto__', 'constructor', 'toString', '(__proto__)'])
      expect(
        JSON.stringify(redactArguments(Object.fromEntries([[secret, secret]]), { secrets: [secret] })),
      ).not.toContain(secret)
  })

  it('contain no stored secret at any position', () =>
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 40 }).filter((secret) => secret.trim().length > 7),
        fc.jsonValue({ maxDepth: 4 }),
        fc.record({ around: fc.string(), schema: fc.object({ maxDepth: 3 }) }),
        (secret, value, { around, schema }) => {
          const plant = (inner: unknown): unknown =>
            Array.isArray(inner)
              ? [...inner.map(plant), secret]
              : typeof inner === 'object' && inner !== null
                ? { ...Object.fromEntries(Object.entries(inner).map(([k, v]) => [k, plant(v)])), [secret]: secret }
                : `${around}${secret}${around}`
          const redacted = JSON.stringify(redactArguments({ a: plant(value) }, { schema, secrets: [secret] }))
          expect(redacted).not.toContain(JSON.stringify(secret).slice(1, -1))
        },
      ),
      { numRuns: 1000 },
    ))
})
