/** Every part of a host with its whole contract, for servers and tools that are built on the library. */

export type { Audit, AuditOptions } from './audit/audit.ts'
export type { ChainVerdict } from './audit/chain.ts'
export type { AuditEntry, AuditInput } from './audit/entry.ts'
export type { Journal, JournalBatch } from './audit/journal/journal.ts'
export type { AuditFilter, AuditPage, AuditReader } from './audit/read-log.ts'
export type { CallOutcome, Input } from './calls/call.ts'
export type { NamedCall } from './calls/call-by-name.ts'
export type { CallRequest, CallState, Calls, RunningCall } from './calls/calls.ts'
export type { Invocation } from './calls/invocation.ts'
export type { CallRecord, CallRecords, CancellableRecords } from './calls/records/call-records.ts'
export { READ_RESULT } from './calls/results/read-result.ts'
export type { ReadResult, ResultPart, Results } from './calls/results/results.ts'
export type { Selection } from './calls/selection.ts'
export type { Trial, TrialInput, TrialScope } from './calls/try-tool.ts'
export type { CatalogTool } from './catalog/catalog.ts'
export type { ToolDeclaration } from './code-mode/declarations/declarations.ts'
export type { Executor } from './code-mode/executor.ts'
export type { ElicitationRequest, ElicitationResult } from './connections/connection.ts'
export type { ConnectionInfo, Connections } from './connections/connections.ts'
export type { Drivers } from './connections/drivers.ts'
export type { StdioPolicy } from './connections/stdio/policy.ts'
export { type WebDriverOptions, webDrivers } from './connections/web-drivers.ts'
export {
  createExecutionContext,
  type ExecutionContext,
  type ExecutionContextSource,
  type RunInContext,
  withExecutionContext,
} from './context.ts'
export { browserKeyRing } from './credentials/browser-key-ring.ts'
export type { CredentialStore } from './credentials/credential-store.ts'
export type { KeyRing } from './credentials/key-ring.ts'
export { masterKeyRing } from './credentials/master-key.ts'
export { ERRORS, type ErrorCode, type FieldError, HostError } from './errors.ts'
export type { Emitter, HostEvent, HostEventType } from './events.ts'
export { createServices, type HostServices } from './host/create-services.ts'
export type { ServiceOptions } from './host/service-options.ts'
export { type HostLike, toServices } from './host/to-services.ts'
export type { ActivationScope, Activations } from './loadout/activations.ts'
export type { ActivationRule } from './loadout/layers.ts'
export type { LoadoutOptions, LoadoutScope, Loadouts } from './loadout/loadouts.ts'
export type { Narrowing } from './loadout/narrow.ts'
export type { Loadout, LoadoutToolkit } from './loadout/overlay.ts'
export type { Discovered, DiscoverOptions } from './loadout/setup/discover.ts'
export type { LocalFile, LocalFiles } from './loadout/setup/find-toolkits.ts'
export type { FailedToolkit, Resolution, SetupOptions } from './loadout/setup/setup-toolkits.ts'
export type { LiveConnection, Warmed } from './loadout/setup/warm.ts'
export type { SignIns } from './oauth/facade.ts'
export type { SignInLink } from './oauth/service.ts'
export { clientMetadataOf, type SignInOptions } from './oauth/target.ts'
export type { Approvals } from './policy/approvals/approvals.ts'
export type { Grant, Grants } from './policy/grants.ts'
export type { Usage } from './policy/limits/usage.ts'
export type { PolicyRules, RuleScope } from './policy/rules.ts'
export { rule } from './policy/rules.ts'
export { APP_OWNER, newId } from './schema/ids.ts'
export type { Principal, PrincipalInput } from './schema/principal.ts'
export type { ApprovalView } from './schema/records/approval.ts'
export type { AuditView } from './schema/records/audit.ts'
export type { CallRow } from './schema/records/call.ts'
export type {
  ExportedConfig,
  ExportFormat,
  ImportedEntry,
  ImportOptions,
  ImportReport,
} from './schema/records/import-report.ts'
export type { RunView } from './schema/records/run.ts'
export type { WorkflowDefinition, WorkflowInput, WorkflowNode, WorkflowView } from './schema/records/workflow.ts'
export type { Scope, Tier } from './schema/scope.ts'
export { scopeChain, tierOf } from './schema/scope.ts'
export type { LoadoutEntry, Reason } from './schema/toolkit/loadout-entry.ts'
export type { Decision, PolicyRule } from './schema/toolkit/policy.ts'
export type { ResolveOptions, SelectedTool, SelectionData } from './schema/toolkit/selection.ts'
export type { Server } from './schema/toolkit/server.ts'
export type { PresentedTool, ToolManifest, ToolSource, ToolTransformer } from './schema/toolkit/tool.ts'
export type { Toolkit, ToolkitRecord, ToolkitState, ToolkitView } from './schema/toolkit/toolkit.ts'
export type { SearchSetup } from './search/create-search.ts'
export type { Strategy } from './search/search.ts'
export { SEARCH_TOOLS } from './search/search-tools.ts'
export type { LoadedTool } from './search/select-tools.ts'
export { type Tokenizer, tokenizerOf } from './search/tokens/tokenizer.ts'
export {
  createToolIndex,
  type ListedTool,
  type ListHit,
  type ListQuery,
  readTools,
  search,
  type ToolIndex,
  type ToolIndexOptions,
  type ToolListInput,
} from './search/tool-list-search.ts'
export type { ToolHit, ToolSearch } from './search/tool-search.ts'
export type { Embedder, EmbedTexts } from './search/vectors/embedder.ts'
export type { Access, Change, Storage, Transaction } from './storage/storage.ts'
export type { CallMeasurement, TelemetryOptions } from './telemetry/telemetry.ts'
export type { Explanation, Thread, ThreadAddress, ThreadOptions } from './thread.ts'
export type { Messages, NewMessage } from './threads/messages.ts'
export type { StoredThread, Threads } from './threads/threads.ts'
export type { AppConfigStore } from './toolkits/app-config.ts'
export { type DefinedTool, defineTool, type ToolDefinition } from './toolkits/define-tool.ts'
export { defineToolkit } from './toolkits/define-toolkit.ts'
export { type ExportOptions, exportToolkits } from './toolkits/export-toolkits.ts'
export type { FunctionContext, ToolFunction } from './toolkits/functions.ts'
export type { Imports } from './toolkits/imports.ts'
export type { Registered, RegisterOptions, Registry, ToolkitOwner } from './toolkits/registry.ts'
export type { SourceProblem, SourceRead, Sources, ToolkitSource } from './toolkits/sources/sources.ts'
export type { StoredToolkit } from './toolkits/stored-toolkit.ts'
export type { Users } from './users/remove-user.ts'
export type { Agent, AgentCall, AgentRequest, AgentResult } from './workflow/agent.ts'
export { defineWorkflow } from './workflow/define-workflow.ts'
export type { Preflight, Problem } from './workflow/preflight/preflight.ts'
export type { RerunOptions, StartOptions } from './workflow/start-workflow.ts'
export type { WhichWorkflow, Workflows } from './workflow/workflows.ts'
