import type { Scope, Tier } from './schema/scope.ts'

/** The lowest tier that the scope names. */
export function tierOf(scope: Scope): Tier {
  if (scope.callId !== undefined) return 'call'
  if (scope.threadId !== undefined) return 'thread'
  return scope.userId === undefined ? 'app' : 'user'
}

/** The scopes that a scope inherits from, the app first and itself last. */
export function scopeChain(scope: Scope): Scope[] {
  const chain: Scope[] = [{}]
  const { userId, threadId, callId } = scope
  if (userId !== undefined) chain.push({ userId })
  if (threadId !== undefined) chain.push({ userId, threadId })
  if (callId !== undefined) chain.push(threadId === undefined ? { userId, callId } : { userId, threadId, callId })
  return chain
}

/** A structured key of a scope: JSON, so that no part can bleed into its neighbour. */
export function scopeKey(scope: Scope): string {
  return JSON.stringify([scope.userId ?? null, scope.threadId ?? null, scope.callId ?? null])
}
