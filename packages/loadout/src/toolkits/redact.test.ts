import { expect, it } from 'vitest'
import { redact } from './redact.ts'

it('takes a secret out as it is, as JSON has it, and line by line', () => {
  const pem = '-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----'
  expect(redact(`failed with ${pem} at`, [pem])).toBe('failed with ••• at')
  expect(redact(`failed with ${JSON.stringify(pem)}`, [pem])).toBe('failed with "•••"')
  expect(redact(`failed with abcdefgh ijklmnop`, [pem])).toBe('failed with ••• •••')
  expect(redact('a quote "x\\"y-secret"', ['x"y-secret'])).not.toContain('secret')
  expect(redact('short ones stay: on', ['on'])).toBe('short ones stay: on')
})
