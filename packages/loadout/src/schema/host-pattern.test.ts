import { describe, expect, it } from 'vitest'
import { coversHost, hostPattern, matchesHost, widestHostPattern } from './host-pattern.ts'

describe('host patterns', () => {
  it('match a name, its subdomains and a port', () => {
    const fits = (pattern: string, host: string, port = 443) => matchesHost([pattern], { host, port })
    expect(fits('api.example.com', 'API.example.com')).toBe(true)
    expect(fits('api.example.com', 'api.example.com', 80)).toBe(true)
    expect(fits('api.example.com', 'api.example.com', 8443)).toBe(false)
    expect(fits('api.example.com:8443', 'api.example.com', 8443)).toBe(true)
    expect(fits('api.example.com:8443', 'api.example.com')).toBe(false)
    expect(fits('*.example.com', 'a.b.example.com')).toBe(true)
    expect(fits('*.example.com', 'example.com')).toBe(false)
    expect(fits('*.example.com', 'badexample.com')).toBe(false)
    expect(fits('api.example.com', 'xapi.example.com')).toBe(false)
    expect(fits('api.example.com', '')).toBe(false)
    expect(fits('*', 'anything.at.all')).toBe(true)
    expect(fits('*', 'anything.at.all', 22)).toBe(false)
  })

  it('cover patterns that are not wider', () => {
    expect(coversHost(['*.example.com'], 'api.example.com')).toBe(true)
    expect(coversHost(['*.example.com'], '*.eu.example.com')).toBe(true)
    expect(coversHost(['api.example.com'], '*.example.com')).toBe(false)
    expect(coversHost(['example.com'], 'example.com:443')).toBe(true)
    expect(coversHost(['example.com:443'], 'example.com')).toBe(false)
    expect(coversHost(['*'], '*.example.com')).toBe(true)
    expect(coversHost([], 'example.com')).toBe(false)
  })

  it('are names only, and the pattern for every host needs the wider schema', () => {
    for (const bad of ['https://a.com', 'a.com/x', 'a b', '*', '', 'a.com:123456', '**.a.com'])
      expect(hostPattern.safeParse(bad).success, bad).toBe(false)
    expect(widestHostPattern.parse('*')).toBe('*')
    expect(widestHostPattern.parse('A.com')).toBe('a.com')
  })
})
