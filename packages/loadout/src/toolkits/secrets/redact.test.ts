import { describe, expect, it } from 'vitest'
import { redact } from './redact.ts'

it('redact removes a secret verbatim, JSON-escaped and line by line', () => {
  const pem = '-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----'
  expect(redact(`failed with ${pem} at`, [pem])).toBe('failed with ••• at')
  expect(redact(`failed with ${JSON.stringify(pem)}`, [pem])).toBe('failed with "•••"')
  expect(redact(`failed with abcdefgh ijklmnop`, [pem])).toBe('failed with ••• •••')
  expect(redact('a quote "x\\"y-secret"', ['x"y-secret'])).not.toContain('secret')
  expect(redact('short ones stay: on', ['on'])).toBe('short ones stay: on')
})

describe('redaction of an encoded secret', () => {
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
  ])('%s', (_, message) => {
    const masked = redact(`failed: ${message} at`, [secret])
    expect(masked).toContain('•••')
    // Only the surrounding text and one character of the secret may remain.
    expect(Buffer.from(masked, 'base64').toString()).not.toContain('word')
    expect(masked.length).toBeLessThan(`failed: ${message} at`.length)
  })

  it('covers the decoded form of a secret that is encoded in its URL', () => {
    expect(redact(`bad token ${secret}`, [encodeURIComponent(secret)])).toBe('bad token •••')
  })

  it('covers the credentials in a header and the password in a URL', () => {
    expect(redact('bad: abcdefghij', ['Bearer abcdefghij'])).toBe('bad: •••')
    expect(redact('bad: hunter22', [`Basic ${base64('ann:hunter22')}`])).toBe('bad: •••')
    expect(redact('bad: hunter22', ['postgres://ann:hunter22@db/x'])).toBe('bad: •••')
  })

  it('covers a fragment that is left by truncation', () => {
    expect(redact('failed with 0123456789', ['0123456789abcdef'])).toBe('failed with •••')
    expect(redact('89abcdef failed', ['0123456789abcdef'])).toBe('••• failed')
    expect(redact('failed with 01', ['0123456789abcdef'])).toBe('failed with 01')
  })

  it('matches a short secret only verbatim', () => {
    expect(redact('abcd and YWJjZA', ['abcd'])).toBe('••• and YWJjZA')
  })
})

it('redact removes a text that has the format of a key', () => {
  expect(redact(`no account for "ghp_${'a1'.repeat(18)}", sorry`, [])).toBe('no account for "•••", sorry')
  expect(redact('no account for ann', [])).toBe('no account for ann')
})
