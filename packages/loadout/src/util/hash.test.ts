import { expect, it } from 'vitest'
import { sha256Hex } from './hash.ts'

it('hashes UTF-8 text as SHA-256 does', async () => {
  expect(await sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(await sha256Hex('ä')).toHaveLength(64)
  expect(await sha256Hex('abc', 16)).toBe('ba7816bf8f01cfea')
})
