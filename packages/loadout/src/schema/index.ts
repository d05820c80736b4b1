/** The shapes of the wire, for servers and clients of it. */
export { activationRef } from './activation.ts'
export { stepLimit, tokenBudget } from './answer-limits.ts'
export { type ApiKeyRow, apiKeyInput, apiKeyView } from './api-key.ts'
export { appConfig, appConfigPatch } from './app-config.ts'
export { approvalAnswer, approvalStatus, approvalView } from './approval.ts'
export { auditView } from './audit.ts'
export { toolkitId, userId } from './ids.ts'
export { exportedConfig, exportFormat, importOptions, importReport } from './import-report.ts'
export { assertPlainJson, invalidInput, jsonObject, parse, parseJson } from './json.ts'
export { loadoutEntry, reason } from './loadout-entry.ts'
export { type MessageView, messageView, saidMessage, saidParts } from './message.ts'
export { policyRules } from './policy.ts'
export { preferences, preferencesPatch } from './preferences.ts'
export {
  KEY_SCOPES,
  type KeyScope,
  keyScope,
  type Principal,
  type PrincipalInput,
  principal,
  type Role,
  role,
} from './principal.ts'
export { programInput } from './program.ts'
export { type RunView, runView } from './run.ts'
export { tier } from './scope.ts'
export { resolveInput, type SelectionData, STRATEGIES, selection } from './selection.ts'
export { configType } from './server.ts'
export {
  type OfferedTemplate,
  offeredTemplate,
  offerTemplate,
  type StdioTemplate,
  stdioTemplates,
  type TemplateHole,
} from './stdio-template.ts'
export { threadInput, threadPatch, threadSettings } from './thread.ts'
export { toolManifest } from './tool.ts'
export {
  type ListedToolkit,
  listedToolkit,
  STATES,
  type ToolkitView,
  toolkitOptions,
  toolkitState,
  toolkitView,
  toolView,
} from './toolkit.ts'
export type { SessionRow, SignInLinkRow, UserRow } from './user.ts'
export { type WorkflowView, workflowDefinition, workflowView } from './workflow.ts'
