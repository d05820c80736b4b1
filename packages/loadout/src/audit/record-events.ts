/** Changes of configuration, credentials, grants and pins, as the host tells of them. Names of things, never secrets. */
import type { Emitter, HostEvent } from '../events.ts'
import type { AuditInput } from './entry.ts'

type Told = { [T in HostEvent['type']]?: (event: Extract<HostEvent, { type: T }>) => Omit<AuditInput, 'userId'> }

const about = ({ toolkit, uscoId }: { toolkit: string; uscoId: string }) => ({
  source: `mcp:${toolkit}`,
  detail: { toolkit, uscoId },
})

const RECORDED: Told = {
  'toolkit-registered': (event) => ({ action: 'toolkit_registered', ...about(event) }),
  'toolkit-updated': (event) => ({ action: 'toolkit_updated', ...about(event) }),
  'toolkit-switched': (event) => ({ action: 'toolkit_switched', ...about(event) }),
  'toolkit-removed': (event) => ({ action: 'toolkit_removed', ...about(event) }),
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
  'grant-added': ({ grantId, ref }) => ({ action: 'grant_added', ref, detail: { grantId } }),
  'grant-revoked': ({ grantId, ref }) => ({ action: 'grant_revoked', ref, detail: { grantId } }),
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
  'policy-changed': ({ threadId }) => ({ action: 'policy_changed', threadId }),
  'preferences-changed': () => ({ action: 'preferences_changed' }),
  'app-config-changed': ({ sections }) => ({ action: 'app_config_changed', detail: { sections: [...sections] } }),
}

const names = (fields: readonly string[]) => fields.slice(0, 50).map((field) => field.slice(0, 100))

/** Until the returned function is called. */
export function recordEvents(events: Emitter, record: (input: AuditInput) => void | Promise<void>): () => void {
  return events.on((event) => {
    const told = RECORDED[event.type] as ((event: HostEvent) => Omit<AuditInput, 'userId'>) | undefined
    // Where it cannot be stored now, the shipper tells so and tries again.
    if (told) void Promise.resolve(record({ userId: event.userId, ...told(event) })).catch(() => {})
  })
}
