/** Maps pool changes to visible toolkit states. */
import type { ToolkitState } from '../schema/toolkit/toolkit.ts'
import type { PoolChange } from './pool/pool.ts'

export const INPUT_NEEDED: ToolkitState = {
  status: 'input-needed',
  reason: 'The server asks you something.',
  action: 'Answer its question, or decline it.',
}

export const SIGN_IN_NEEDED: ToolkitState = {
  status: 'sign-in-needed',
  reason: 'The server wants you to sign in.',
  action: 'Sign in to it.',
}

export function stateFrom(change: PoolChange): ToolkitState {
  if (change.status !== 'error') return { status: change.status }
  const { code, message: reason, action, output } = change.error
  if (code === 'cancelled') return { status: 'disconnected', code, reason, action }
  if (code !== 'sign-in-needed')
    return { status: 'error', code, reason, action, ...(output === undefined ? {} : { output }) }
  // The action of `sign-in-needed` is a link, if there is one.
  return action.startsWith('http')
    ? { status: code, reason: SIGN_IN_NEEDED.reason, url: action }
    : { status: code, reason, action }
}
