/** Contract suites for custom drivers, and a scripted model server. */

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
