/** MCP servers, recordings and a scripted model for tests of apps, and contract suites for custom drivers. */

export type { Fault } from './mcp-server/faults.ts'
export {
  type RecordedServer,
  type RecordedServerOptions,
  startRecordedServer,
} from './mcp-server/recorded-server.ts'
export {
  type McpServerOptions,
  type McpTestServer,
  type McpTestTool,
  startMcpServer,
} from './mcp-server/start-server.ts'
export type {
  ModelAnswer,
  ModelRequest,
  ModelScript,
  ModelStep,
  ModelTurn,
  ScriptedCall,
  ScriptedProgram,
  ScriptedSearch,
} from './model-server/script.ts'
export {
  type ModelServer,
  type ModelServerOptions,
  type RecordedRequest,
  startModelServer,
} from './model-server/server.ts'
export type { SuiteCase } from './suite-case.ts'
export { type EngineEnvironment, type EngineProcess, engineSuite } from './suites/engine/suite.ts'
export { executorSuite } from './suites/executor/suite.ts'
export { storageSuite } from './suites/storage/suite.ts'
