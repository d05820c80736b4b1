import { describe, expect, it } from 'vitest'
import { callText } from './program-text.ts'

const call = (toolkit: string, name: string, inputSchema: object = { type: 'object' }) =>
  callText({ toolkit, name, inputSchema: inputSchema as never })

describe('the program text of a call', () => {
  it('names toolkit and tool as programs do', () => {
    expect(call('my-shop', 'list_orders')).toBe('await my_shop.list_orders({})')
    expect(call('kit', 'get-sum')).toBe('await kit["get-sum"]({})')
    expect(call('9lives', 'x')).toBe('await globalThis["9lives"].x({})')
  })

  it('fills required arguments with a value of their type', () => {
    const properties = {
      path: { type: 'string' },
      count: { type: 'integer', default: 5 },
      kind: { enum: ['a', 'b'] },
      'odd-name': { type: 'array' },
      left: { type: 'string' },
    }
    expect(call('k', 't', { properties, required: ['path', 'count', 'kind', 'odd-name', 'unknown'] })).toBe(
      'await k.t({ path: "", count: 5, kind: "a", "odd-name": [], unknown: "" })',
    )
  })

  it('handles built-in object property names', () => {
    expect(call('k', 't', { properties: { constructor: { type: 'constructor' } }, required: ['constructor'] })).toBe(
      'await k.t({ constructor: "" })',
    )
  })
})
