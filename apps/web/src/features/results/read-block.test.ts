import { describe, expect, it } from 'vitest'
import { jsonIn, readBlock, textOfResult } from './read-block.ts'

describe('a content block', () => {
  it('is read as text, image, audio or link', () => {
    expect(readBlock({ type: 'text', text: 'x' })).toEqual({ kind: 'text', text: 'x' })
    expect(readBlock({ type: 'image', data: 'QQ==', mimeType: 'image/png' })).toMatchObject({ kind: 'image' })
    expect(readBlock({ type: 'audio', data: 'QQ==', mimeType: 'audio/wav' })).toMatchObject({ kind: 'audio' })
    expect(readBlock({ type: 'resource_link', uri: 'https://a.example/x', name: 'n' })).toMatchObject({
      name: 'n',
      href: 'https://a.example/x',
    })
  })

  it('is read as a file if it cannot be shown', () => {
    const blob = { uri: 'demo://x', blob: 'QQ==', mimeType: 'application/zip' }
    expect(readBlock({ type: 'resource', resource: blob })).toMatchObject({ kind: 'file', mimeType: 'application/zip' })
    expect(readBlock({ type: 'resource', resource: { uri: 'x', text: 't' } })).toEqual({ kind: 'text', text: 't' })
  })

  const HOSTILE: unknown[] = [
    { type: 'image', data: 'QQ==', mimeType: 'image/svg+xml' },
    { type: 'image', data: '"><script>', mimeType: 'image/png' },
    { type: 'image', data: 'QQ==', mimeType: 'text/html' },
    { type: 'image', mimeType: 'image/png' },
    { type: 'text', text: 5 },
    { type: 'nonsense' },
    null,
    7,
  ]
  for (const block of HOSTILE)
    it(`is shown unchanged if it does not match its type: ${JSON.stringify(block)}`, () => {
      expect(readBlock(block)).toEqual({ kind: 'other', value: block })
    })

  for (const uri of ['javascript:alert(1)', 'file:///etc/passwd', 'demo://x', 'no address'])
    it(`does not link to ${uri}`, () => {
      expect(readBlock({ type: 'resource_link', uri, name: 'n' })).not.toHaveProperty('href')
    })
})

it('jsonIn recognizes JSON in a text', () => {
  expect(jsonIn(' {"a": 1} ')).toEqual({ a: 1 })
  expect(jsonIn('42')).toBeUndefined()
  expect(jsonIn('{not')).toBeUndefined()
})

it('textOfResult returns the text to copy', () => {
  expect(
    textOfResult(
      [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'QQ==', mimeType: 'image/png' },
      ],
      undefined,
    ),
  ).toBe('a\n\n[image/png]')
  expect(textOfResult([], { a: 1 })).toBe('{\n  "a": 1\n}')
})
