import { expect, it } from 'vitest'
import { redactArguments } from '../../audit/redact/redact-arguments.ts'
import { restoreMasked } from './restore-masked.ts'

const SECRET = 'a-stored-word'
const restore = (original: object, edit: (masked: Record<string, never>) => object) => {
  const masked = redactArguments(original as never, { secrets: [SECRET, '12345678'], whole: true })
  // As a database gives it back: in another order.
  const stored = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(masked).reverse())))
  return restoreMasked({ original: original as never, masked }, edit(stored) as never)
}

it('restoreMasked keeps untouched values, even under masked names', () => {
  const original = { a: `x ${SECRET} y`, [SECRET]: 1, [`${SECRET}2`]: { b: 2 }, 12345678: 'c', token: { deep: [1] } }
  expect(restore(original, (masked) => masked)).toEqual({ arguments: original, errors: [] })
  const changed = restore(original, (masked) => ({ ...masked, more: 1 }))
  expect(changed).toEqual({ arguments: { ...original, more: 1 }, errors: [] })
})

it('restoreMasked keeps mask characters that were in the original text', () => {
  const original = { text: 'they write ••• for it', n: 1 }
  expect(restore(original, (masked) => ({ ...masked, n: 2 }))).toEqual({ arguments: { ...original, n: 2 }, errors: [] })
})

it('restoreMasked rejects edited text next to a mask', () => {
  const { errors } = restore({ a: `x ${SECRET} y` }, () => ({ a: 'z ••• y' }))
  expect(errors).toMatchObject([{ path: 'arguments.a' }])
})

it('restoreMasked rejects a mask that was moved', () => {
  const { errors } = restore({ list: ['a', SECRET] }, () => ({ list: ['•••', 'a'] }))
  expect(errors).toMatchObject([{ path: 'arguments.list.0' }])
})
