import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { APP_OWNER, type Host, type HostEvent } from 'loadout'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

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

export function eventRoutes(host: Host, stopping: AbortSignal) {
  return new OpenAPIHono<Env>().openapi(events, (c) => {
    const { userId } = c.var.principal
    return streamSSE(c, async (stream) => {
      const waiting: HostEvent[] = []
      let wake = () => {}
      const stop = host.events.on((event) => {
        if (event.userId !== userId && event.userId !== APP_OWNER) return
        // A reader that does not read loses the oldest; it asks for everything anew when it reconnects.
        if (waiting.length >= MAX_BEHIND) waiting.shift()
        waiting.push(event)
        wake()
      })
      const leave = () => {
        stop()
        wake()
      }
      stream.onAbort(leave)
      stopping.addEventListener('abort', leave, { once: true })
      await stream.writeSSE({ event: 'ready', data: '{}' })
      while (!stream.aborted && !stopping.aborted) {
        const event = waiting.shift()
        if (event) await stream.writeSSE({ event: event.type, data: JSON.stringify(event) })
        else if (
          !(await nextOrTimeout((resolve) => {
            wake = resolve
          }))
        )
          await stream.writeSSE({ event: 'still-here', data: '{}' })
      }
      stopping.removeEventListener('abort', leave)
      stop()
    })
  })
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
