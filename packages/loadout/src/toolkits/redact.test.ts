import { describe, expect, it } from 'vitest'
import { redact } from './redact.ts'

it('takes a secret out as it is, as JSON has it, and line by line', () => {
  const pem = '-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----'
  expect(redact(`failed with ${pem} at`, [pem])).toBe('failed with ••• at')
  expect(redact(`failed with ${JSON.stringify(pem)}`, [pem])).toBe('failed with "•••"')
  expect(redact(`failed with abcdefgh ijklmnop`, [pem])).toBe('failed with ••• •••')
  expect(redact('a quote "x\\"y-secret"', ['x"y-secret'])).not.toContain('secret')
  expect(redact('short ones stay: on', ['on'])).toBe('short ones stay: on')
})

describe('written in another way', () => {
  const secret = 'pass "word" & more+/é'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  it.each([
    ['for a URL', encodeURIComponent(secret)],
    ['as a form', new URLSearchParams({ a: secret }).toString()],
    ['in base64', base64(secret)],
    ['in base64 for URLs', Buffer.from(secret).toString('base64url')],
    ['in base64 with more around it', base64(`{"user":"ann","password":"${secret}","x":1}`)],
    ['one byte later', base64(`u:${secret}!`)],
    ['two bytes later', base64(`us${secret}`)],
  ])('%s', (_, told) => {
    const masked = redact(`failed: ${told} at`, [secret])
    expect(masked).toContain('•••')
    // What is left is less than the text around the secret, and one character at its end.
    expect(Buffer.from(masked, 'base64').toString()).not.toContain('word')
    expect(masked.length).toBeLessThan(`failed: ${told} at`.length)
  })

  it('a secret that stands encoded in its URL is known as it is, too', () => {
    expect(redact(`bad token ${secret}`, [encodeURIComponent(secret)])).toBe('bad token •••')
  })

  it('what is secret within it: credentials of a header, the password of a URL', () => {
    expect(redact('bad: abcdefghij', ['Bearer abcdefghij'])).toBe('bad: •••')
    expect(redact('bad: hunter22', [`Basic ${base64('ann:hunter22')}`])).toBe('bad: •••')
    expect(redact('bad: hunter22', ['postgres://ann:hunter22@db/x'])).toBe('bad: •••')
  })

  it('what a cut left of it', () => {
    expect(redact('failed with 0123456789', ['0123456789abcdef'])).toBe('failed with •••')
    expect(redact('89abcdef failed', ['0123456789abcdef'])).toBe('••• failed')
    expect(redact('failed with 01', ['0123456789abcdef'])).toBe('failed with 01')
  })

  it('short ones only as they are', () => {
    expect(redact('abcd and YWJjZA', ['abcd'])).toBe('••• and YWJjZA')
  })
})

it('a key by its form is nobody’s to tell', () => {
  expect(redact(`no account for "ghp_${'a1'.repeat(18)}", sorry`, [])).toBe('no account for "•••", sorry')
  expect(redact('no account for ann', [])).toBe('no account for ann')
})
