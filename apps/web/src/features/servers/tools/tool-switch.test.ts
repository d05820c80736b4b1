import { describe, expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import { isSwitchable, switchBody, whyFixed } from './tool-switch.ts'

type Tool = Toolkit['tools'][number]
const options = { exclude: ['old_*', 'b'], overrides: { c: { enabled: false, title: 'C' } } }
const toolkit = (more: object) =>
  ({ enabled: true, readOnly: false, options, tools: [], ...more }) as unknown as Toolkit
const tool = (name: string, more: object = {}) => ({ name, enabled: true, ...more }) as unknown as Tool
const activation = { kind: 'activation', speaks: 'against', tier: 'user', detail: '' }
const filtered = (tier: string) => ({ kind: 'filter', speaks: 'against', tier, detail: '' })
const off = (name: string, ...reasons: object[]) => tool(name, { enabled: false, off: reasons })

describe('a tool toggle in the user’s own toolkit', () => {
  const own = toolkit({ tools: [off('d', activation)] })
  it('is enabled unless a wider setting decides', () => {
    expect(isSwitchable(own, tool('a'))).toBe(true)
    expect(isSwitchable(own, off('b', filtered('user')))).toBe(true)
    expect(isSwitchable(own, off('c'))).toBe(true)
    expect(isSwitchable(own, off('d', activation))).toBe(true)
    expect(isSwitchable(own, off('old_one', filtered('user')))).toBe(false)
    expect(whyFixed(own, off('old_one', filtered('user')))).toMatch(/^The server’s options/)
    expect(whyFixed(own, tool('a', { held: 'Not accepted.' }))).toBe('Not accepted.')
  })

  it('updates the exclude list and removes other overrides', () => {
    expect(switchBody(own, ['a'], false)).toEqual({ exclude: ['old_*', 'b', 'a'] })
    expect(switchBody(own, ['b'], true)).toEqual({ exclude: ['old_*'] })
    expect(switchBody(own, ['c', 'd'], true)).toEqual({
      exclude: ['old_*', 'b'],
      overrides: { c: { enabled: true, title: 'C' } },
      switches: { d: true },
    })
  })
})

describe('a tool toggle in a global toolkit', () => {
  const global = toolkit({ readOnly: true })
  it('changes the user’s setting only and is fixed where the operator decided', () => {
    expect(isSwitchable(global, tool('a'))).toBe(true)
    expect(isSwitchable(global, off('a', activation))).toBe(true)
    expect(isSwitchable(global, off('b', filtered('app')))).toBe(false)
    expect(whyFixed(global, off('b', activation, filtered('app')))).toMatch(/operator/)
    expect(whyFixed(toolkit({ readOnly: true, enabled: false }), off('a', activation))).toBe(
      'Switch the server on first.',
    )
    expect(switchBody(global, ['a', 'b'], false)).toEqual({ switches: { a: false, b: false } })
  })
})
