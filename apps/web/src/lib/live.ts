/**
 * Live updates: an event invalidates all queries of its topics, the first parts of their keys. After a gap all queries
 * are invalidated.
 */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { openStream } from './event-stream.ts'

/** First part of a query key. */
export type Topic =
  | 'toolkits'
  | 'tools'
  | 'threads'
  | 'approvals'
  | 'grants'
  | 'inputs'
  | 'workflows'
  | 'runs'
  | 'audit'
  | 'usage'
  | 'preferences'
  | 'keys'
  | 'models'
  | 'app'
  | 'users'

export const EVENT_TOPICS: Record<string, readonly Topic[]> = {
  'toolkit-registered': ['toolkits', 'tools', 'app', 'audit'],
  'toolkit-updated': ['toolkits', 'tools', 'app', 'audit'],
  'toolkit-switched': ['toolkits', 'tools', 'threads'],
  'toolkit-removed': ['toolkits', 'tools', 'app', 'grants', 'audit'],
  'credentials-changed': ['toolkits', 'audit'],
  'signed-in': ['toolkits', 'audit'],
  'signed-out': ['toolkits', 'audit'],
  'pin-accepted': ['toolkits', 'tools', 'grants', 'audit'],
  'app-config-changed': ['app', 'toolkits'],
  'state-changed': ['toolkits'],
  'catalog-changed': ['toolkits', 'tools'],
  'tool-loaded': ['threads'],
  'tool-unloaded': ['threads'],
  'approval-requested': ['approvals', 'runs'],
  'approval-answered': ['approvals', 'runs', 'audit', 'usage'],
  'grant-added': ['grants'],
  'grant-revoked': ['grants'],
  'policy-changed': ['app', 'tools', 'preferences', 'threads'],
  'thread-changed': ['threads'],
  'loadout-changed': ['threads', 'tools', 'toolkits'],
  'workflow-changed': ['workflows'],
  'run-node': ['runs'],
  'input-requested': ['inputs', 'approvals'],
  'input-settled': ['inputs', 'approvals'],
  'preferences-changed': ['preferences'],
}

/** Topics of storage changes, by collection. */
export const COLLECTION_TOPICS: Record<string, readonly Topic[]> = {
  userServerConfigs: ['toolkits', 'tools', 'app'],
  userServerTools: ['toolkits', 'tools'],
  personalCatalogs: ['toolkits', 'tools'],
  pins: ['toolkits', 'tools'],
  signIns: ['toolkits'],
  credentials: ['toolkits', 'models'],
  appConfig: ['app', 'toolkits'],
  policyRules: ['app', 'tools', 'preferences'],
  approvals: ['approvals', 'runs'],
  grants: ['grants'],
  calls: ['usage'],
  audit: ['audit', 'usage'],
  runs: ['runs'],
  steps: ['runs'],
  workflows: ['workflows'],
  workflowVersions: ['workflows'],
  threads: ['threads'],
  activations: ['threads', 'toolkits'],
  loadedTools: ['threads'],
  messages: ['threads'],
  preferences: ['preferences'],
  apiKeys: ['keys'],
  users: ['users'],
}

export type Live = 'connecting' | 'live' | 'away'

/** Merges a burst of events. */
const GATHER_MS = 120
/** Topics that change with every call are refetched at most once per second. */
const OFTEN_MS = 1000
const OFTEN: ReadonlySet<Topic> = new Set(['audit', 'usage'])

export function useLive(): Live {
  const queryClient = useQueryClient()
  const [live, setLive] = useState<Live>('connecting')
  useEffect(() => follow(queryClient, setLive), [queryClient])
  return live
}

function follow(queryClient: QueryClient, tell: (live: Live) => void): () => void {
  const gathered = gather(queryClient)
  const close = openStream(['behind', 'stored-changed', ...Object.keys(EVENT_TOPICS)], (event) => {
    if (event.what === 'ready') {
      tell('live')
      // A running fetch already has new data.
      if (event.gap) queryClient.invalidateQueries({}, { cancelRefetch: false })
    } else if (event.what === 'away') {
      tell('away')
      if (event.refused) queryClient.invalidateQueries({ queryKey: ['session'] })
    } else if (event.type === 'behind') queryClient.invalidateQueries()
    else if (event.type === 'stored-changed') gathered.add(COLLECTION_TOPICS[collectionOf(event.data)] ?? [])
    else gathered.add(EVENT_TOPICS[event.type] ?? [])
  })
  return () => {
    close()
    gathered.stop()
  }
}

const collectionOf = (data: string): string => (JSON.parse(data) as { collection: string }).collection

function gather(queryClient: QueryClient) {
  const timers = new Map<Topic, number>()
  const read = (topic: Topic) => {
    timers.delete(topic)
    queryClient.invalidateQueries({ queryKey: [topic] })
  }
  return {
    add(concerned: readonly Topic[]): void {
      for (const topic of concerned)
        if (!timers.has(topic))
          timers.set(
            topic,
            window.setTimeout(() => read(topic), OFTEN.has(topic) ? OFTEN_MS : GATHER_MS),
          )
    },
    stop(): void {
      for (const timer of timers.values()) window.clearTimeout(timer)
    },
  }
}
