/** Schemas of the HTTP API, for servers and clients. */

export { appConfig, appConfigPatch, stepLimit, tokenBudget } from './app-config.ts'
export { toolkitId, userId } from './ids.ts'
export { assertPlainJson, invalidInput, jsonObject, parse, parseJson } from './json.ts'
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
export { type ApiKeyRow, apiKeyInput, apiKeyView } from './records/api-key.ts'
export { approvalAnswer, approvalStatus, approvalView } from './records/approval.ts'
export { auditView } from './records/audit.ts'
export { exportedConfig, exportFormat, importOptions, importReport } from './records/import-report.ts'
export { type MessageView, messageView, userMessage, userParts } from './records/message.ts'
export { preferences, preferencesPatch } from './records/preferences.ts'
export { programInput } from './records/program.ts'
export { type RunView, runView } from './records/run.ts'
export { threadInput, threadPatch, threadSettings } from './records/thread.ts'
export type { SessionRow, SignInLinkRow, UserRow } from './records/user.ts'
export { type WorkflowView, workflowDefinition, workflowView } from './records/workflow.ts'
export { tier } from './scope.ts'
export { activationRef } from './toolkit/activation.ts'
export { loadoutEntry, reason } from './toolkit/loadout-entry.ts'
export { policyRules } from './toolkit/policy.ts'
export { resolveInput, type SelectionData, STRATEGIES, selection } from './toolkit/selection.ts'
export { configType } from './toolkit/server.ts'
export {
  type OfferedTemplate,
  offeredTemplate,
  offerTemplate,
  type StdioTemplate,
  stdioTemplates,
  type TemplateHole,
} from './toolkit/stdio-template.ts'
export { toolManifest } from './toolkit/tool.ts'
export {
  type ListedToolkit,
  listedToolkit,
  STATES,
  type ToolkitView,
  toolkitOptions,
  toolkitState,
  toolkitView,
  toolView,
} from './toolkit/toolkit.ts'
