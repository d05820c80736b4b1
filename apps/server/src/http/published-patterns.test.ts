import { createServices } from '@loadout/core/services'
import { describe, expect, it } from 'vitest'
import { createApp } from './app.ts'
import { publishedPattern } from './published-patterns.ts'

describe('a published pattern', () => {
  it.each([
    ['^[^\\p{Cc}]*$/u', ['a b', 'é'], ['a\u0000', '\u009f']],
    ['^[^\\p{Cc}\\p{Cf}]+$/u', ['name'], ['', 'a\u200bb', '\u202e']],
    ['^[a-z]+(\\..+)?$/su', ['files.read', 'files.a\nb'], ['files.', 'FILES']],
    ['^(data:image\\/|https:\\/\\/)[^\\0]+$/i', ['HTTPS://x', 'data:image/png'], ['http://x', 'https://']],
    ['^[a-z]+$', ['abc'], ['ABC']],
  ])('keeps the meaning of %s without flags', (written, matching, other) => {
    const pattern = new RegExp(publishedPattern(written))
    for (const text of matching) expect(text).toMatch(pattern)
    for (const text of other) expect(text).not.toMatch(pattern)
  })

  it('compiles with and without the Unicode flag, everywhere in the document', async () => {
    const host = createServices()
    const app = createApp({ host, authenticate: async () => undefined })
    const text = await (await app.request('/api/openapi.json')).text()
    const patterns = new Set<string>()
    JSON.parse(text, (key, value) => {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value)
      return value
    })
    expect(patterns.size).toBeGreaterThan(5)
    for (const pattern of patterns) {
      expect(() => [new RegExp(pattern), new RegExp(pattern, 'u')], pattern).not.toThrow()
      expect(pattern).not.toMatch(/\/[dgimsuvy]+$|\\p\{/)
    }
    await host.close()
  })
})
