import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { HostEvent } from '@loadout/core'
import { APP_OWNER, type HostServices } from '@loadout/core/services'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import type { IsStill } from '../http/middleware.ts'
import { problemResponses } from '../http/problem.ts'

const KEEP_ALIVE_MS = 25_000
const MAX_BEHIND = 1000

const events = createRoute({
  method: 'get',
  path: '/events',
  summary: "What happens to the caller's things, live (server-sent events)",
  responses: {
    200: {
      description: 'One event a message: its type as `event`, the rest as JSON',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    ...problemResponses,
  },
})

/** A change in these collections can end a session. */
const AUTH_COLLECTIONS: ReadonlySet<string> = new Set(['sessions', 'apiKeys', 'users'])

/** `isStill` re-authenticates the request; a stream that no longer authenticates ends. */
export function eventRoutes(host: HostServices, stopping: AbortSignal, isStill: IsStill) {
  return new OpenAPIHono<Env>().openapi(events, (c) => {
    const { userId, role } = c.var.principal
    return streamSSE(c, async (stream) => {
      const queue = createEventQueue()
      let wake = () => {}
      let isAuthorized = true
      const checkAccess = async () => {
        isAuthorized &&= await isStill(c.req.raw, c.var.principal)
        wake()
      }
      const stop = host.events.on((event) => {
        if (event.userId !== userId && event.userId !== APP_OWNER) return
        if (event.type === 'stored-changed' && AUTH_COLLECTIONS.has(event.collection)) void checkAccess()
        // Source problems concern operators only.
        if (event.type === 'source-broken' && role !== 'operator') return
        queue.add(withoutActor(event))
        wake()
      })
      const leave = () => {
        stop()
        wake()
      }
      stream.onAbort(leave)
      stopping.addEventListener('abort', leave, { once: true })
      await stream.writeSSE({ event: 'ready', data: '{}' })
      while (isAuthorized && !stream.aborted && !stopping.aborted) {
        const event = queue.next()
        if (event) await stream.writeSSE({ event: event.type, data: JSON.stringify(event) })
        else if (
          !(await nextOrTimeout((resolve) => {
            wake = resolve
          }))
        ) {
          await checkAccess()
          if (isAuthorized) await stream.writeSSE({ event: 'still-here', data: '{}' })
        }
      }
      stopping.removeEventListener('abort', leave)
      stop()
    })
  })
}

/** The acting operator is visible only in the audit log. */
function withoutActor(event: HostEvent): HostEvent {
  if (!('actor' in event)) return event
  const { actor: _, ...rest } = event
  return rest
}

/**
 * Event queue of one stream. A reader that is too slow gets one `behind` event instead of the lost ones; repeated
 * changes of one collection are merged.
 */
function createEventQueue() {
  let events: Array<HostEvent | { type: 'behind' }> = []
  const stored = new Set<string>()
  return {
    add(event: HostEvent): void {
      if (event.type === 'stored-changed') {
        const key = JSON.stringify([event.userId, event.collection])
        if (stored.has(key)) return
        stored.add(key)
      }
      if (events.length >= MAX_BEHIND) {
        events = [{ type: 'behind' }]
        stored.clear()
      }
      events.push(event)
    },
    next() {
      const event = events.shift()
      if (event?.type === 'stored-changed') stored.delete(JSON.stringify([event.userId, event.collection]))
      return event
    },
  }
}

function nextOrTimeout(register: (resolve: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), KEEP_ALIVE_MS)
    register(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
