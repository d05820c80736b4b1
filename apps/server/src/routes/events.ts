import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { HostEvent } from '@loadout/core'
import { APP_OWNER, type HostServices } from '@loadout/core/services'
import { streamSSE } from 'hono/streaming'
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

/** What may have ended who somebody is: their session, their key, themselves. */
const AUTH_COLLECTIONS: ReadonlySet<string> = new Set(['sessions', 'apiKeys', 'users'])

/** `isStill`: whether a request is still of who it was of; a stream that is not ends. */
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
        // What is wrong with the operator's files is the operator's to know.
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

/** Which operator did it is for the log. */
function withoutActor(event: HostEvent): HostEvent {
  if (!('actor' in event)) return event
  const { actor: _, ...rest } = event
  return rest
}

/** Who does not read fast enough is told to look anew, once, in place of what was lost; the same change is told once. */
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
