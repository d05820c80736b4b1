/**
 * What the policy says of tools before any is called, laid over what a toolkit offers: whom a tool is denied to is not offered it,
 * and what is denied to all who could call it is not carried. The decision about a call itself is made where it is called.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import type { Reason } from '../schema/toolkit/loadout-entry.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Candidate } from './overlay.ts'

/** Why a tool is denied, by who would call it. */
export type Denials = Partial<Record<AllowedCaller, Reason>>

/** What holds for a scope now. */
export interface ToolDenials {
  /** In the order of the tools, the same list for the same tools; undefined where none of them is denied to anybody. */
  denials(stored: StoredToolkit, tools: readonly CatalogTool[]): ReadonlyArray<Denials | undefined> | undefined
  /** What would be decided of each tool, for people. */
  reasons(stored: StoredToolkit, tools: readonly CatalogTool[]): Promise<readonly Reason[]>
}

export interface PolicyPreview {
  forScope(scope: { userId: string; threadId?: string | undefined }): Promise<ToolDenials>
}

/** What is offered, as far as it is permitted. */
export function applyDenials(
  candidates: readonly Candidate[],
  denials: ReadonlyArray<Denials | undefined> | undefined,
): readonly Candidate[] {
  if (denials === undefined) return candidates
  return candidates.map((candidate, at) => {
    const { allowedCallers } = candidate
    const denied = denials[at] ?? {}
    const permitted = allowedCallers.filter((caller) => denied[caller] === undefined)
    if (permitted.length === allowedCallers.length) return candidate
    const why = allowedCallers.map((caller) => denied[caller]).find((reason) => reason !== undefined) as Reason
    if (permitted.length === 0) return { ...candidate, blockedBy: candidate.blockedBy ?? why }
    const detail = `Only ${permitted.join(', ')} may call it. ${why.detail}`
    return { ...candidate, allowedCallers: permitted, note: { ...why, detail } }
  })
}

/** What is not carried for nothing but what is looked at again when it is called, with what to do about it. */
export function isDecidedAtCallTime(against: readonly Reason[]): boolean {
  return against.length > 0 && against.every(({ kind }) => kind === 'pin' || kind === 'policy')
}
