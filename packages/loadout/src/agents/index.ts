/**
 * Agents on the AI SDK: models by configuration, an agent loop, the chat of a thread, and the runner of workflow agent
 * nodes.
 */
export { type AgentOptions, type AgentRunResult, type AgentStep, agent } from './agent.ts'
export type { ResponseLimits, Stopped, TokensUsed } from './agent-settings.ts'
export {
  type AnswerHandlerOptions,
  answerHandler,
  type StartAnswer,
  startAnswer,
} from './answers/answer-handler.ts'
export type { AnswerServices } from './answers/stored-answer.ts'
export { type ChatOptions, type ChatServices, streamChat } from './chat.ts'
export { modelFailure } from './model-failure.ts'
export {
  createModels,
  MODEL_PROVIDERS,
  type ModelProvider,
  type ModelServices,
  type ModelSettings,
  type Models,
  type ModelsOptions,
  modelName,
  modelPattern,
  type OpenModel,
} from './models.ts'
export { type NodeAgentOptions, nodeAgent } from './node-agent.ts'
