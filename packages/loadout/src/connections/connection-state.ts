/** The states that people see, from what the pool tells. */
import type { ToolkitState } from '../schema/toolkit.ts'
import type { PoolChange } from './pool.ts'

export const INPUT_NEEDED: ToolkitState = {
  status: 'input-needed',
  reason: 'The server asks you something.',
  action: 'Answer its question, or decline it.',
}

export function stateFrom(change: PoolChange): ToolkitState {
  if (change.status !== 'error') return { status: change.status }
  const { code, message: reason, action } = change.error
  return { status: code === 'sign-in-needed' ? 'sign-in-needed' : 'error', reason, action }
}
