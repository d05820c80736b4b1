/** Local servers: a process and its pipes. Node only. */
import { HostError } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { OpenCommand } from './drivers.ts'
import type { CommandLine } from './fill-template.ts'
import { identityOf, probeMsOf } from './new-client.ts'
import { ProbedTransport } from './probed-transport.ts'
import type { ProcessGroups, ProcessSpec } from './process-group.ts'
import { openSession } from './session.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface StdioOptions {
  groups: ProcessGroups
  /** What is started for a command line: the command itself, or a sandbox with it inside. Asked anew for every start. */
  prepare(line: CommandLine): Promise<ProcessSpec>
  clientVersion: string
  maxResponseBytes?: number | undefined
  /** How long `server/discover` may stay unanswered before `initialize` is sent as well. @default 3000 */
  probeMs?: number | undefined
}

export function openCommands({ groups, prepare, clientVersion, maxResponseBytes, probeMs }: StdioOptions): OpenCommand {
  return async (target, hooks, line) => {
    const start = async (legacy: boolean) => {
      const spec = await within(target.connectMs, prepare(line))
      const pipes = new StdioTransport(groups, spec, { secrets: target.secrets, maxResponseBytes })
      const transport = new ProbedTransport(pipes)
      const verdict = legacy ? { era: 'legacy' as const } : target.verdict
      const session = {
        transport,
        kind: 'stdio' as const,
        target: { ...target, verdict },
        hooks,
        negotiate: () =>
          transport.negotiate({ client: identityOf(clientVersion), verdict, probeMs: probeMsOf(target, probeMs) }),
        diagnostics: () => diagnose(pipes),
        clientVersion,
      }
      return openOrExplain(() => openSession(session), pipes)
    }
    try {
      return await start(false)
    } catch (error) {
      // Some old servers end at the first question that they do not know: that is their answer to it.
      const endedAtProbe = target.verdict === undefined && HostError.is(error) && error.code === 'server-crashed'
      if (!endedAtProbe || target.signal?.aborted) throw error
      return start(true)
    }
  }
}

/** What is still being made ready goes on, for the next try; what then nobody waits for any more is let go. */
function within(ms: number, preparing: Promise<ProcessSpec>): Promise<ProcessSpec> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      preparing.then((spec) => spec.onEnd?.()).catch(() => {})
      const detail = 'The package of the server is still being fetched.'
      reject(new HostError('server-timeout', { detail, action: 'Try again in a moment.' }))
    }, ms)
    preparing.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const DEFAULT_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** The command itself, with what every server gets beside its own environment: PATH and the like, never ours as a whole. */
export function directly(baseEnv: Readonly<Record<string, string>> = DEFAULT_ENV): StdioOptions['prepare'] {
  return async ({ command, args, env, cwd }) => ({ command, args, env: { ...baseEnv, ...env }, cwd })
}

// The session knows that the pipe closed; the process knows why.
async function openOrExplain(open: () => Promise<Connection>, transport: StdioTransport): Promise<Connection> {
  try {
    return explained(await open(), transport)
  } catch (error) {
    throw transport.failure ?? withOutput(error, transport.output)
  }
}

/** One that never answers may have said why on its other pipe. */
function withOutput(error: unknown, output: string): unknown {
  if (!HostError.is(error) || output === '') return error
  const { code, message: detail, action, cause } = error
  return new HostError(code, { detail, action, output, cause })
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
    listSkills: (options) => explain(connection.listSkills(options)),
    readSkill: (address, options) => explain(connection.readSkill(address, options)),
    getPrompt: (prompt, options) => explain(connection.getPrompt(prompt, options)),
    complete: (request, options) => explain(connection.complete(request, options)),
    diagnostics: () => connection.diagnostics(),
    isOpen: () => connection.isOpen(),
    close: () => connection.close(),
  }
}

function diagnose(transport: StdioTransport): { stderr?: string; pid?: number } {
  const stderr = transport.stderr.text()
  return { ...(stderr === '' ? {} : { stderr }), ...(transport.pid === null ? {} : { pid: transport.pid }) }
}
