/** Records host events about configuration, credentials, grants and pins. Entries contain names, never secrets. */
import type { Emitter, HostEvent } from '../events.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { AuditInput } from './entry.ts'

type EventRecorders = {
  [T in HostEvent['type']]?: (event: Extract<HostEvent, { type: T }>) => Omit<AuditInput, 'userId'>
}

const toolkitFields = ({ toolkit, uscoId }: { toolkit: string; uscoId: string }) => ({
  source: `mcp:${toolkit}`,
  detail: { toolkit, uscoId },
})

const grantFields = ({
  grantId,
  ref,
  target,
  decision,
  threadId,
}: Extract<HostEvent, { type: 'grant-added' | 'grant-revoked' }>) => ({
  ref,
  threadId,
  detail: { grantId, target, decision },
})

const RECORDED: EventRecorders = {
  'toolkit-registered': (event) => ({ action: 'toolkit_registered', ...toolkitFields(event) }),
  'toolkit-updated': (event) => ({ action: 'toolkit_updated', ...toolkitFields(event) }),
  'toolkit-switched': (event) => ({ action: 'toolkit_switched', ...toolkitFields(event) }),
  'toolkit-removed': (event) => ({ action: 'toolkit_removed', ...toolkitFields(event) }),
  'credentials-changed': ({ set, cleared, ...event }) => ({
    action: set.length > 0 ? 'credential_set' : 'credential_cleared',
    source: `mcp:${event.toolkit}`,
    detail: { toolkit: event.toolkit, uscoId: event.uscoId, set: names(set), cleared: names(cleared) },
  }),
  'signed-in': ({ issuer, ...event }) => ({
    action: 'signed_in',
    source: `mcp:${event.toolkit}`,
    detail: { toolkit: event.toolkit, uscoId: event.uscoId, issuer: issuer.slice(0, 300) },
  }),
  'signed-out': ({ revoked, ...event }) => ({
    action: 'signed_out',
    source: `mcp:${event.toolkit}`,
    detail: { toolkit: event.toolkit, uscoId: event.uscoId, revoked },
  }),
  'pin-accepted': ({ toolkit, uscoId, tool, count }) => ({
    action: 'pin_accepted',
    source: `mcp:${toolkit}`,
    ...(tool === undefined ? {} : { ref: `${toolkit}.${tool}` }),
    detail: { toolkit, uscoId, count },
  }),
  'grant-added': (event) => ({ action: 'grant_added', ...grantFields(event) }),
  'grant-revoked': (event) => ({ action: 'grant_revoked', ...grantFields(event) }),
  'approval-requested': ({ approvalId, callId, ref }) => ({
    action: 'approval_requested',
    callId,
    ref,
    detail: { approvalId },
  }),
  'approval-answered': ({ approvalId, callId, ref, status }) => ({
    action: 'approval_answered',
    callId,
    ref,
    outcome: status,
    detail: { approvalId },
  }),
  'policy-changed': ({ userId, threadId, rules }) => ({
    action: 'policy_changed',
    threadId,
    detail: {
      tier: userId === APP_OWNER ? 'app' : threadId === undefined ? 'user' : 'thread',
      count: rules.length,
      rules: names(rules.map(({ pattern, decision }) => `${decision} ${pattern}`)),
    },
  }),
  'preferences-changed': ({ fields }) => ({ action: 'preferences_changed', detail: { fields: names(fields) } }),
  'app-config-changed': ({ sections, fields }) => ({
    action: 'app_config_changed',
    detail: { sections: names(sections), fields: names(fields) },
  }),
}

const names = (fields: readonly string[]) => fields.slice(0, 50).map((field) => field.slice(0, 100))

/** The acting user: the operator for app-wide changes. Their entries are erased with them. */
const actorOf = (event: HostEvent) => ('actor' in event ? (event.actor ?? event.userId) : event.userId)

/** Records events until the returned function is called. */
export function recordEvents(events: Emitter, record: (input: AuditInput) => void | Promise<void>): () => void {
  return events.on((event) => {
    const toInput = RECORDED[event.type] as ((event: HostEvent) => Omit<AuditInput, 'userId'>) | undefined
    // The shipper reports the error and retries.
    if (toInput) void Promise.resolve(record({ userId: actorOf(event), ...toInput(event) })).catch(() => {})
  })
}
