/** Access rules for rows. The SQL drivers enforce the same rules as row-level security policies. */
import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import { type Collection, callerAccess, type SystemCaller, specOf } from './collections.ts'
import type { Access } from './storage.ts'

export type Verb = 'read' | 'insert' | 'change'

interface RowScope {
  collection: Collection
  owner: string
}

export function may(access: Access, verb: Verb, { collection, owner }: RowScope): boolean {
  const spec = specOf(collection)
  if (access.caller !== undefined) return systemMay(access, verb, { collection, owner })
  if (spec.owner !== 'user') return verb === 'read' && spec.owner === 'shared'
  if (owner === access.userId)
    return verb === 'read' || spec.userMay === 'write' || (verb === 'insert' && spec.userMay === 'append')
  return verb === 'read' && spec.appRows && owner === APP_OWNER
}

function systemMay(access: Access & { caller: SystemCaller }, verb: Verb, { collection, owner }: RowScope): boolean {
  // System callers may read shared rows; other rows only by `SYSTEM_CALLERS`.
  if (specOf(collection).owner === 'shared' && verb === 'read') return true
  const reach = callerAccess(access.caller, collection)
  if (reach === undefined) return false
  if (reach === 'any') return true
  return reach === 'app' ? owner === APP_OWNER : owner !== APP_OWNER && owner === access.userId
}

/**
 * Rejects operations that no row of the collection allows before any lookup, so that the error does not reveal whether
 * a row exists.
 */
export function assertCollection(access: Access, verb: Verb, collection: Collection): void {
  const { owner, userMay } = specOf(collection)
  if (verb === 'read' && (owner === 'shared' || (access.caller === undefined && owner === 'user'))) return
  if (access.caller !== undefined) {
    if (callerAccess(access.caller, collection) !== undefined) return
    throw new HostError('forbidden', { detail: `The caller "${access.caller}" has no reach into "${collection}".` })
  }
  if (owner === 'user' && (userMay === 'write' || (userMay === 'append' && verb === 'insert'))) return
  throw new HostError('forbidden', { detail: `A user may not ${verb} a row of "${collection}".` })
}

export function assertMay(access: Access, verb: Verb, { collection, owner }: RowScope): void {
  if (may(access, verb, { collection, owner })) return
  const subject = access.caller === undefined ? 'A user' : `The caller "${access.caller}"`
  throw new HostError('forbidden', {
    detail: `${subject} may not ${verb} a row of "${collection}" that belongs to another.`,
  })
}

/** Rejects an access without a user, because an empty user would address the app's rows. */
export function assertAccess(access: Access): void {
  if (access.caller === undefined && access.userId === APP_OWNER)
    throw new HostError('forbidden', { detail: 'An access must name a user or a system caller.' })
}

/** Owner of a row. Only collections with user rows have one, even if other rows name a user. */
export function rowOwner(collection: Collection, row: Record<string, unknown>): string {
  return specOf(collection).owner === 'user' && typeof row.userId === 'string' ? row.userId : APP_OWNER
}

/** User to notify of a change: the owner, or the user that a `system` row names. */
export function changeRecipient(collection: Collection, row: Record<string, unknown>): string {
  return specOf(collection).owner !== 'shared' && typeof row.userId === 'string' ? row.userId : APP_OWNER
}

/** Owner that a keyed operation addresses. */
export function ownerOf(access: Access, collection: Collection): string {
  if (specOf(collection).owner !== 'user') return APP_OWNER
  if (access.userId !== undefined) return access.userId
  throw new HostError('forbidden', {
    detail: `A row of "${collection}" is addressed by its user and its id; name the user.`,
  })
}
