import { expect, it } from 'vitest'
import type { Toolkit } from '../../api.ts'
import { actionOf, lookOf } from './toolkit-state.tsx'

const at = (status: string, type: string, toolCount: number) =>
  lookOf({ state: { status }, server: { type }, toolCount } as unknown as Toolkit).label

it('what is not connected lacks something only where nothing of it is known', () => {
  expect(at('disconnected', 'stdio', 0)).toBe('Not connected')
  expect(at('disconnected', 'stdio', 3)).toBe('On demand')
  expect(at('disconnected', 'custom', 3)).toBe('Ready')
  expect(at('error', 'custom', 3)).toBe('Failed')
})

it('sends nobody to look for words that stand below', () => {
  const action = 'Read its last words in the detail; correct its command.'
  expect(actionOf({ status: 'error', action, output: 'x' })).toBe('Correct its command.')
  expect(actionOf({ status: 'error', action })).toBe(action)
})
