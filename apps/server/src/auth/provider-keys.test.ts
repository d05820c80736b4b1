import { expect, it } from 'vitest'
import { providerKeys } from './provider-keys.ts'

const RSA = { kty: 'RSA', kid: 'a', n: 'n', e: 'AQAB' }
const EC = { kty: 'EC', kid: 'b', crv: 'P-256' }

function keysOf(...sets: unknown[]) {
  let requestCount = 0
  const ask = async () => sets[Math.min(requestCount++, sets.length - 1)]
  return { ask, requestCount: () => requestCount }
}

it('providerKeys returns the key that a token names and fetches all keys once', async () => {
  const { ask, requestCount } = keysOf({ keys: [RSA, EC, 'odd', { kid: 'a' }] })
  const find = providerKeys(ask)
  const found = await Promise.all([find({ alg: 'RS256', kid: 'a' }), find({ alg: 'ES256', kid: 'b' })])
  expect(found).toEqual([RSA, EC])
  expect(await find({ alg: 'ES256' })).toEqual(EC)
  expect(requestCount()).toBe(1)
})

it('providerKeys returns no key for another purpose and none if several match', async () => {
  const find = providerKeys(
    keysOf({ keys: [{ ...RSA, use: 'enc' }, { ...EC, alg: 'ES384' }, { ...RSA, kid: 'c' }, RSA] }).ask,
  )
  for (const header of [
    { alg: 'RS256' },
    { alg: 'RS256', kid: 'b' },
    { alg: 'ES256', kid: 'b' },
    { alg: 'ES384', kid: 'b' },
    {},
  ])
    await expect(find(header), JSON.stringify(header)).rejects.toThrow('no such key')
})

it('providerKeys fetches again for a new key, but not for each made-up key ID', async () => {
  const turned = keysOf({ keys: [RSA] }, { keys: [EC] })
  const find = providerKeys(turned.ask, { ttlMs: 60_000, restMs: 0 })
  expect(await find({ alg: 'RS256', kid: 'a' })).toEqual(RSA)
  expect(await find({ alg: 'ES256', kid: 'b' })).toEqual(EC)
  const made = keysOf({ keys: [RSA] })
  const findUnknown = providerKeys(made.ask)
  for (let n = 0; n < 5; n++)
    await expect(findUnknown({ alg: 'RS256', kid: `made-up-${n}` })).rejects.toThrow('no such key')
  expect(made.requestCount()).toBe(1)
})

it('providerKeys fetches again after a failed request', async () => {
  let isDown = true
  const find = providerKeys(async () => {
    if (isDown) throw new Error('down')
    return { keys: [RSA] }
  })
  await expect(find({ alg: 'RS256', kid: 'a' })).rejects.toThrow('down')
  isDown = false
  expect(await find({ alg: 'RS256', kid: 'a' })).toEqual(RSA)
})
