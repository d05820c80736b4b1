import type { ToolkitState } from './schema/toolkit/toolkit.ts'

/** Operator who changed app data, if known. For the audit log; users do not see it. */
interface OperatorFields {
  actor?: string | undefined
}

interface ToolkitFields extends OperatorFields {
  userId: string
  toolkit: string
  uscoId: string
}

interface GrantFields {
  userId: string
  grantId: string
  ref: string
  target: 'tool' | 'toolkit'
  decision: 'allow' | 'deny'
  threadId?: string
}

/** Events of a host. Names are noun-verb; `userId` is the affected user, or empty for the app. */
export type HostEvent =
  | ({ type: 'toolkit-registered' } & ToolkitFields)
  | ({ type: 'toolkit-updated' } & ToolkitFields)
  | { type: 'toolkit-switched'; userId: string; toolkit: string; uscoId: string }
  | ({ type: 'toolkit-removed' } & ToolkitFields)
  | ({
      type: 'credentials-changed'
      /** Field names, never values. */
      set: readonly string[]
      cleared: readonly string[]
    } & ToolkitFields)
  | { type: 'signed-in'; userId: string; toolkit: string; uscoId: string; issuer: string }
  | { type: 'signed-out'; userId: string; toolkit: string; uscoId: string; revoked: boolean }
  | { type: 'pin-accepted'; userId: string; toolkit: string; uscoId: string; tool?: string; count: number }
  | ({
      type: 'app-config-changed'
      userId: string
      sections: readonly string[]
      /** `section.field`, never values. */
      fields: readonly string[]
    } & OperatorFields)
  | { type: 'state-changed'; userId: string; toolkit: string; uscoId: string; state: ToolkitState }
  | { type: 'catalog-changed'; userId: string; toolkit: string; uscoId: string }
  | { type: 'tool-loaded'; userId: string; threadId?: string; ref: string }
  | { type: 'tool-unloaded'; userId: string; threadId?: string; ref: string }
  | {
      type: 'toolkits-resolved'
      userId: string
      runId?: string
      resolved: ReadonlyArray<{ name: string; toolkit: string; from: string; tools: readonly string[] }>
      missing: readonly string[]
      failed: ReadonlyArray<{ id: string; reason: string }>
      dropped: readonly string[]
      warnings: readonly string[]
    }
  | { type: 'source-broken'; userId: string; source: string; entry?: string; line?: number; message: string }
  | { type: 'approval-requested'; userId: string; approvalId: string; callId: string; ref: string }
  | {
      type: 'approval-answered'
      userId: string
      approvalId: string
      callId: string
      ref: string
      status: 'allowed' | 'denied' | 'expired'
      /** Run that requested the approval. */
      runId?: string
    }
  | ({ type: 'grant-added' } & GrantFields)
  | ({ type: 'grant-revoked' } & GrantFields)
  | ({
      type: 'policy-changed'
      userId: string
      threadId?: string
      /** Current rules, in order. */
      rules: ReadonlyArray<{ pattern: string; decision: string }>
    } & OperatorFields)
  | { type: 'thread-changed'; userId: string; threadId: string }
  | { type: 'loadout-changed'; userId: string; threadId?: string }
  | { type: 'workflow-changed'; userId: string; workflowId: string }
  /** Progress of a workflow node in this process. */
  | {
      type: 'run-node'
      userId: string
      runId: string
      node: string
      status: 'queued' | 'running' | 'completed' | 'failed' | 'skipped' | 'paused'
      error?: { code: string; message: string; action?: string }
      /** Finished and total items of a map node. */
      done?: number
      total?: number
    }
  | { type: 'input-requested'; userId: string; toolkit: string; inputId: string }
  | { type: 'input-settled'; userId: string; toolkit: string; inputId: string }
  | { type: 'stored-changed'; userId: string; collection: string; id: string }
  | { type: 'preferences-changed'; userId: string; fields: readonly string[] }

export type HostEventType = HostEvent['type']
type Listener = (event: HostEvent) => void

export interface Emitter {
  emit(event: HostEvent): void
  /** Subscribes to all events, or to one type. Returns an unsubscribe function. */
  on(listener: Listener): () => void
  on<T extends HostEventType>(type: T, listener: (event: Extract<HostEvent, { type: T }>) => void): () => void
}

export function createEmitter(onListenerError: (error: unknown) => void = () => {}): Emitter {
  const listeners = new Set<Listener>()
  const add = (listener: Listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    emit(event) {
      // A throwing listener must not stop the others or the emitting code.
      for (const listener of [...listeners]) {
        try {
          listener(event)
        } catch (error) {
          onListenerError(error)
        }
      }
    },
    on(first: HostEventType | Listener, second?: (event: never) => void) {
      if (typeof first === 'function') return add(first)
      return add((event) => event.type === first && (second as Listener)(event))
    },
  }
}
