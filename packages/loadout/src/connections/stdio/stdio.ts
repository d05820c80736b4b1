/** Connects to local servers over a process's pipes. Node only. */
import { HostError } from '../../errors.ts'
import type { Connection, ConnectionTarget } from '../connection.ts'
import type { OpenCommand } from '../drivers.ts'
import { withStartLimits } from '../pool/pending-handshakes.ts'
import { needsBackChannel } from '../session/eras.ts'
import { ProbedTransport } from '../session/probed-transport.ts'
import { clientIdentity, openSession, probeTimeoutMs } from '../session/session.ts'
import type { ProcessGroups, ProcessSpec } from './process-group.ts'
import { STABLE_ENV } from './stable-env.ts'
import { StdioTransport } from './stdio-transport.ts'
import type { CommandLine } from './template.ts'

export interface StdioOptions {
  groups: ProcessGroups
  /** Process to start for a command line: the command itself, or a sandbox with it inside. Called for every start. */
  prepare(line: CommandLine): Promise<ProcessSpec>
  clientVersion: string
  maxResponseBytes?: number | undefined
  /** Milliseconds until `initialize` is sent in addition to an unanswered `server/discover`. @default 3000 */
  probeMs?: number | undefined
  /** Whether `prepare` downloads packages. @default false */
  installs?: boolean | undefined
}

export function openCommands(options: StdioOptions): OpenCommand {
  const { groups, prepare, clientVersion, maxResponseBytes, probeMs, installs } = options
  return async (initialTarget, hooks, line) => {
    const start = async (target: ConnectionTarget, legacy: boolean) => {
      if (installs) target.onProgress?.({ phase: 'installing' })
      const spec = await awaitPrepared(prepare(line), target)
      const pipes = new StdioTransport(groups, spec, { secrets: target.secrets, maxResponseBytes })
      const transport = new ProbedTransport(pipes)
      const verdict = legacy ? { era: 'legacy' as const } : target.verdict
      const backChannel = { requests: 0, method: '' }
      transport.onServerRequest = (method) => {
        if (needsBackChannel(method)) Object.assign(backChannel, { requests: backChannel.requests + 1, method })
      }
      const session = {
        transport,
        backChannel,
        kind: 'stdio' as const,
        target: { ...target, verdict },
        hooks,
        lastOutputAt: () => pipes.lastOutputAt,
        negotiate: () =>
          transport.negotiate({
            client: clientIdentity(clientVersion),
            verdict,
            only: target.only,
            probeMs: probeTimeoutMs(target, probeMs),
          }),
        diagnostics: () => diagnose(pipes),
        clientVersion,
      }
      followStart(pipes, target)
      return openOrExplain(() => openSession(session), pipes).finally(() => delete pipes.onLine)
    }
    const startedAt = performance.now()
    try {
      return await start(initialTarget, false)
    } catch (error) {
      // Some legacy servers exit at an unknown first request.
      const mayBeLegacy = initialTarget.verdict === undefined && initialTarget.only === undefined
      const endedAtProbe = mayBeLegacy && HostError.is(error) && error.code === 'server-crashed'
      if (!endedAtProbe || initialTarget.signal?.aborted) throw error
      return start(withRemainingTime(initialTarget, performance.now() - startedAt), true)
    }
  }
}

/** A running download continues for the next start after a timeout; its spec is then released. */
function awaitPrepared(preparing: Promise<ProcessSpec>, { connectMs, maxMs, setting, signal }: ConnectionTarget) {
  let isWanted = true
  preparing.then((spec) => isWanted || spec.onEnd?.()).catch(() => {})
  return withStartLimits(preparing, { connectMs: maxMs ?? connectMs, setting, signal }).catch((error: unknown) => {
    isWanted = false
    if (!HostError.is(error) || error.code !== 'server-timeout') throw error
    const detail = 'The package of the server is still being fetched.'
    throw new HostError('server-timeout', { detail, action: 'Try again in a moment.' })
  })
}

/** A second start gets the remaining time, at least `MIN_START_MS`. */
function withRemainingTime(target: ConnectionTarget, spentMs: number): ConnectionTarget {
  const remaining = (ms: number) => Math.max(MIN_START_MS, ms - spentMs)
  const { connectMs, maxMs } = target
  return { ...target, connectMs: remaining(connectMs), ...(maxMs === undefined ? {} : { maxMs: remaining(maxMs) }) }
}

const MIN_START_MS = 1000
const INSTALLS =
  /\b(installing|will be installed|downloading|pulling|fetching|extracting|resolving|building|preparing packages)\b/i

/** Reports the start phase by the output and the first response. */
function followStart(pipes: StdioTransport, { onProgress }: ConnectionTarget): void {
  if (!onProgress) return
  onProgress({ phase: 'starting' })
  let hasReplied = false
  pipes.onFirstMessage = () => {
    hasReplied = true
    onProgress({ phase: 'probing' })
  }
  pipes.onLine = (lastLine) =>
    onProgress({ phase: hasReplied ? 'probing' : INSTALLS.test(lastLine) ? 'installing' : 'starting', lastLine })
}

const DEFAULT_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** Runs the command itself with `baseEnv`; it does not inherit the host's environment. */
export function directCommand(baseEnv: Readonly<Record<string, string>> = DEFAULT_ENV): StdioOptions['prepare'] {
  return async ({ command, args, env, cwd }) => ({ command, args, env: { ...STABLE_ENV, ...baseEnv, ...env }, cwd })
}

// The session only knows that the pipe closed; the process knows why.
async function openOrExplain(open: () => Promise<Connection>, transport: StdioTransport): Promise<Connection> {
  try {
    return withCrashReason(await open(), transport)
  } catch (error) {
    throw transport.failure ?? withOutput(error, transport.output)
  }
}

/** A silent server may explain itself on stderr. */
function withOutput(error: unknown, output: string): unknown {
  if (!HostError.is(error) || output === '') return error
  const { code, message: detail, action, cause } = error
  return new HostError(code, { detail, action, output, cause })
}

/** Replaces `session-lost` by the process's own failure. */
function withCrashReason(connection: Connection, transport: StdioTransport): Connection {
  const explain = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      // Unread input means that the server hangs, so its connection is closed.
      if (HostError.is(error) && error.code === 'server-timeout' && transport.hasUnreadInput) await connection.close()
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
