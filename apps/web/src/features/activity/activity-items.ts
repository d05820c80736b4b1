/** Audit entries as activity items; the two entries of a call are merged. */
import type { AuditEntry } from './queries.ts'

export interface ActivityItem {
  key: string
  at: string
  action: string
  ref: string | null
  toolkit: string | undefined
  callId: string | null
  threadId: string | null
  runId: string | null
  outcome: string | null
  /** Merged detail of all entries. */
  detail: Record<string, unknown>
}

export const CALL = 'mcp_tool_call'

/** Keeps the order, newest first. A merged call has the position of its newest entry. */
export function toActivityItems(entries: readonly AuditEntry[]): ActivityItem[] {
  const calls = new Map<string, ActivityItem>()
  const items: ActivityItem[] = []
  for (const entry of entries) {
    const existing = entry.action === CALL && entry.callId ? calls.get(entry.callId) : undefined
    if (existing) {
      existing.detail = { ...entry.detail, ...existing.detail }
      continue
    }
    const { id, at, action, ref, source, callId, threadId, runId, outcome, detail } = entry
    const toolkit = source.startsWith('mcp:') ? source.slice(4) : undefined
    const item = { key: id, at, action, ref, toolkit, callId, threadId, runId, outcome, detail }
    items.push(item)
    if (action === CALL && callId) calls.set(callId, item)
  }
  return items
}

const ACTION_LABELS: Record<string, string> = {
  mcp_tool_call: 'Call',
  toolkit_registered: 'Server added',
  toolkit_updated: 'Server changed',
  toolkit_switched: 'Server switched',
  toolkit_removed: 'Server deleted',
  credential_set: 'Secret saved',
  credential_cleared: 'Secret removed',
  signed_in: 'Signed in to a server',
  signed_out: 'Signed out of a server',
  pin_accepted: 'Changed tool accepted',
  grant_added: 'Answer remembered',
  grant_revoked: 'Remembered answer forgotten',
  approval_requested: 'Approval asked',
  approval_answered: 'Approval answered',
  policy_changed: 'Rules changed',
  preferences_changed: 'Preferences changed',
  app_config_changed: 'Settings of the app changed',
  api_key_made: 'API key made',
  api_key_revoked: 'API key revoked',
}

export const ACTIONS = Object.keys(ACTION_LABELS)

/** Custom actions in the log are shown by their own name. */
export function formatAction(action: string): string {
  const label = Object.hasOwn(ACTION_LABELS, action) ? ACTION_LABELS[action] : undefined
  if (label) return label
  const text = action.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** One-line summary of an entry that is no call. */
export function summaryOf({ action, detail }: Pick<ActivityItem, 'action' | 'detail'>): string {
  if (action === CALL) return ''
  return Object.entries(detail)
    .filter(([name, value]) => !/Id$/.test(name) && value !== null && value !== '')
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ')
}
