/** Local servers: a process and its pipes. Node only. */
import { HostError } from '../errors.ts'
import type { StdioServer } from '../schema/server.ts'
import type { Connection, ConnectionTarget, OpenConnection } from './connection.ts'
import { createProcessGroups, type ProcessGroups } from './process-group.ts'
import { openSession } from './session.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface StdioOptions {
  /** What every server gets beside its own environment: PATH, HOME and the like, never ours as a whole. */
  baseEnv?: Readonly<Record<string, string>>
  /** A folder to note running processes in, for the sweep at the next start. */
  noteDir?: string | undefined
  clientVersion: string
}

export interface StdioConnections {
  open: OpenConnection
  /** How many processes run. */
  processes(): number
  close(): Promise<void>
}

const DEFAULT_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

export function stdioConnections({ baseEnv = DEFAULT_ENV, noteDir, clientVersion }: StdioOptions): StdioConnections {
  const groups = createProcessGroups({ noteDir })
  return {
    async open(target, hooks) {
      const start = (legacy: boolean) => {
        const transport = newTransport(groups, target, baseEnv)
        const verdict = legacy ? { era: 'legacy' as const } : target.verdict
        const session = {
          transport,
          kind: 'stdio' as const,
          target: { ...target, verdict },
          hooks,
          diagnostics: () => diagnose(transport),
          clientVersion,
        }
        return openOrExplain(() => openSession(session), transport)
      }
      try {
        return await start(false)
      } catch (error) {
        // Some old servers end at the first question that they do not know: that is their answer to it.
        const endedAtProbe = target.verdict === undefined && HostError.is(error) && error.code === 'server-crashed'
        if (!endedAtProbe) throw error
        return start(true)
      }
    },
    processes: () => groups.count(),
    close: () => groups.close(),
  }
}

function newTransport(
  groups: ProcessGroups,
  { server, secrets }: ConnectionTarget,
  baseEnv: Readonly<Record<string, string>>,
): StdioTransport {
  const { command, args, env, cwd } = server as StdioServer
  return new StdioTransport(groups, { command, args, env: { ...baseEnv, ...env }, cwd }, secrets)
}

// The session knows that the pipe closed; the process knows why.
async function openOrExplain(open: () => Promise<Connection>, transport: StdioTransport): Promise<Connection> {
  try {
    return explained(await open(), transport)
  } catch (error) {
    throw transport.failure ?? error
  }
}

/** The connection, whose failures are told with the process's own reason where it has one. */
function explained(connection: Connection, transport: StdioTransport): Connection {
  const explain = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      // What it was sent is still in the pipe: it does not read, and will not.
      if (HostError.is(error) && error.code === 'server-timeout' && transport.unread) await connection.close()
      throw HostError.is(error) && error.code === 'session-lost' ? (transport.failure ?? error) : error
    }
  }
  return {
    info: connection.info,
    verdict: connection.verdict,
    list: (kind, options) => explain(connection.list(kind, options)),
    callTool: (call, options) => explain(connection.callTool(call, options)),
    readResource: (uri, options) => explain(connection.readResource(uri, options)),
    getPrompt: (prompt, options) => explain(connection.getPrompt(prompt, options)),
    diagnostics: () => connection.diagnostics(),
    isOpen: () => connection.isOpen(),
    close: () => connection.close(),
  }
}

function diagnose(transport: StdioTransport): { stderr?: string; pid?: number } {
  const stderr = transport.stderr.text()
  return { ...(stderr === '' ? {} : { stderr }), ...(transport.pid === null ? {} : { pid: transport.pid }) }
}
