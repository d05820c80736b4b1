/** Real MCP servers for tests that run in a page: a page cannot start one. */
import type { TestProject } from 'vitest/node'
import { startNotes } from '../examples/browser/server.ts'
import { startHttpServer } from './real-servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of `examples/browser`. */
    notesUrl: string
    /** One of the first era, with a session. */
    sessionsUrl: string
    /** The same, but that it does not let pages read the id of the session. */
    closedUrl: string
  }
}

export default async function startPageServers(project: TestProject): Promise<() => Promise<void>> {
  const notes = await startNotes()
  const sessions = await startHttpServer('legacy', { cors: 'mcp-session-id' })
  const closed = await startHttpServer('legacy', { cors: 'x-nothing' })
  project.provide('notesUrl', notes.url)
  project.provide('sessionsUrl', sessions.url)
  project.provide('closedUrl', closed.url)
  return async () => {
    await Promise.all([notes.close(), sessions.close(), closed.close()])
  }
}
