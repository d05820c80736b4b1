/**
 * Names of OpenTelemetry's conventions for MCP and GenAI. They are in development and have moved between packages, so
 * they are defined here. Our own names start with `loadout.`. The four `mcp.*` counters and their tags come from source
 * 000.
 */
export const ATTRIBUTE = {
  method: 'mcp.method.name',
  session: 'mcp.session.id',
  protocolVersion: 'mcp.protocol.version',
  tool: 'gen_ai.tool.name',
  operation: 'gen_ai.operation.name',
  thread: 'gen_ai.conversation.id',
  error: 'error.type',
  statusCode: 'rpc.response.status_code',
  network: 'network.transport',
  networkProtocol: 'network.protocol.name',
  address: 'server.address',
  port: 'server.port',
  toolkit: 'loadout.toolkit',
  caller: 'loadout.caller',
  outcome: 'loadout.outcome',
  decision: 'loadout.decision',
  callId: 'loadout.call.id',
} as const

export const METRIC = {
  toolkitsUsed: 'mcp.context.toolkits_used',
  clientsStarted: 'mcp.clients.started',
  clientsFailed: 'mcp.clients.failed',
  toolsMaterialized: 'mcp.tools.materialized',
  operationDuration: 'mcp.client.operation.duration',
  callsEnded: 'loadout.calls.ended',
  callsRunning: 'loadout.calls.running',
  approvals: 'loadout.approvals',
  connections: 'loadout.pool.connections',
  waiting: 'loadout.pool.waiting',
  processes: 'loadout.processes',
  unshipped: 'loadout.audit.unshipped',
} as const

export const CALL_METHOD = 'tools/call'
export const EXECUTE_TOOL = 'execute_tool'
/** The conventions' error type for a result with `isError`. */
export const TOOL_ERROR = 'tool_error'
export const CONNECT_SPAN = 'loadout.connect'

/** In seconds, by the conventions. */
export const DURATION_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** `OTHER`: names above a limit. `UNKNOWN`: a tool that was not found. */
export const OTHER = 'other'
export const UNKNOWN_VALUE = 'unknown'
