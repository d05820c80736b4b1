/** The shapes of the wire, for servers and clients of it. */
export { type ApiKeyRow, apiKeyInput, apiKeyView } from './api-key.ts'
export { approvalAnswer, approvalView } from './approval.ts'
export { toolkitId, userId } from './ids.ts'
export { exportedConfig, exportFormat, importOptions, importReport } from './import-report.ts'
export { assertPlainJson, invalidInput, jsonObject, parse, parseJson } from './json.ts'
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
export { configType } from './server.ts'
export { toolManifest } from './tool.ts'
export { STATES, type ToolkitView, toolkitOptions, toolkitState, toolkitView, toolView } from './toolkit.ts'
