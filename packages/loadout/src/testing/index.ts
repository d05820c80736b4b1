/** Contract suites, for drivers of your own, and a model that says what a script tells it to. */
export { type EnginePlace, type EngineProcess, engineSuite } from './engine-suite.ts'
export { executorSuite } from './executor-suite.ts'
export { type ModelServer, type ModelServerOptions, type RecordedRequest, startModelServer } from './model-server.ts'
export type {
  ModelAnswer,
  ModelRequest,
  ModelScript,
  ModelStep,
  ModelTurn,
  ScriptedCall,
  ScriptedProgram,
  ScriptedSearch,
} from './model-server-script.ts'
export { storageSuite } from './storage-suite.ts'
export type { SuiteCase } from './suite-case.ts'
