/**
 * Applies policy denials to candidates: a tool is hidden from callers that it is denied to, and blocked if no caller
 * remains. The call itself is decided when it is made.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import type { Reason } from '../schema/toolkit/loadout-entry.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Candidate } from './overlay.ts'

/** Reasons of denials by caller. */
export type Denials = Partial<Record<AllowedCaller, Reason>>

/** Current denials of a scope. */
export interface ToolDenials {
  /** Denials in tool order, the same array for the same tools; undefined if nothing is denied. */
  denials(stored: StoredToolkit, tools: readonly CatalogTool[]): ReadonlyArray<Denials | undefined> | undefined
  /** Policy decision about each tool, for display. */
  reasons(stored: StoredToolkit, tools: readonly CatalogTool[]): Promise<readonly Reason[]>
}

export interface PolicyPreview {
  forScope(scope: { userId: string; threadId?: string | undefined }): Promise<ToolDenials>
}

/** Removes denied callers and blocks tools without callers. */
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

/** Whether the reasons are only pin or policy, which are decided again when the tool is called. */
export function isDecidedAtCallTime(against: readonly Reason[]): boolean {
  return against.length > 0 && against.every(({ kind }) => kind === 'pin' || kind === 'policy')
}
