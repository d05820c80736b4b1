import { z } from 'zod'
import { threadId, userId } from './ids.ts'

/** Lowest tier that the scope names. */
export function tierOf(scope: Scope): Tier {
  if (scope.callId !== undefined) return 'call'
  if (scope.threadId !== undefined) return 'thread'
  return scope.userId === undefined ? 'app' : 'user'
}

/** Scopes that a scope inherits from: the app first, the scope itself last. */
export function scopeChain(scope: Scope): Scope[] {
  const chain: Scope[] = [{}]
  const { userId, threadId, callId } = scope
  if (userId !== undefined) chain.push({ userId })
  if (threadId !== undefined) chain.push({ userId, threadId })
  if (callId !== undefined) chain.push(threadId === undefined ? { userId, callId } : { userId, threadId, callId })
  return chain
}

/** Structured key of a scope. JSON, so that no part can run into the next. */
export function scopeKey(scope: Scope): string {
  return JSON.stringify([scope.userId ?? null, scope.threadId ?? null, scope.callId ?? null])
}

export const TIERS = ['app', 'user', 'thread', 'call'] as const
export const tier = z.enum(TIERS)
export type Tier = z.infer<typeof tier>

/** Address at a tier. Each level requires the one above: a thread always has a user. */
export const scope = z
  .strictObject({
    userId: userId.optional(),
    threadId: threadId.optional(),
    callId: z.string().min(1).max(200).optional(),
  })
  .refine((value) => value.threadId === undefined || value.userId !== undefined, {
    path: ['userId'],
    message: 'is needed where a thread is named',
  })
  .refine((value) => value.callId === undefined || value.userId !== undefined, {
    path: ['userId'],
    message: 'is needed where a call is named',
  })
export type Scope = z.infer<typeof scope>
