import { expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import { actionOf, needsToken, stateStyle } from './toolkit-state.tsx'

const at = (status: string, type: string, toolCount: number) =>
  stateStyle({ state: { status }, server: { type }, toolCount } as unknown as Toolkit).label

const FAILED = { status: 'error', code: 'server-crashed', reason: 'It ended.' } as const

it('a disconnected toolkit is shown as not connected only if none of its tools are known', () => {
  expect(at('disconnected', 'stdio', 0)).toBe('Not connected')
  expect(at('disconnected', 'stdio', 3)).toBe('On demand')
  expect(at('disconnected', 'custom', 3)).toBe('Ready')
  expect(at('error', 'custom', 3)).toBe('Failed')
})

it('asks for a token only where a server without credentials offers no sign-in', () => {
  const bare = { state: { status: 'sign-in-needed' }, server: { type: 'http', auth: { type: 'none' } }, toolCount: 0 }
  const needs = (changes: object) => needsToken({ ...bare, readOnly: false, ...changes } as unknown as Toolkit)
  expect(needs({})).toBe(true)
  expect(needs({ state: { status: 'sign-in-needed', url: 'https://a.example/authorize' } })).toBe(false)
  expect(needs({ signIn: { status: 'sign-in-needed' } })).toBe(false)
  expect(needs({ readOnly: true })).toBe(false)
  expect(needs({ server: { type: 'http', auth: { type: 'oauth' } } })).toBe(false)
  expect(needs({ state: { status: 'connected' } })).toBe(false)
  expect(stateStyle({ ...bare, readOnly: false } as unknown as Toolkit).label).toBe('Token needed')
})

it('actionOf does not refer to output that is already shown', () => {
  const action = 'Read its last words in the detail; correct its command.'
  expect(actionOf({ ...FAILED, action, output: 'x' })).toBe('Correct its command.')
  expect(actionOf({ ...FAILED, action })).toBe(action)
})
