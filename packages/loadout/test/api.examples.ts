/** Written by `npm run examples:write`: the examples of the public API, checked by the compiler and never run. */
import { writeFile } from 'node:fs/promises'
import { nodeAgent } from '../src/agents/index.ts'
import { quickjs } from '../src/code-mode/quickjs.ts'
import {
  type CustomToolkit,
  createHost,
  type DefinedTool,
  defineTool,
  defineWorkflow,
  type ExecutionContext,
  type Host,
  masterKeyRing,
  type RemoteToolkit,
  rule,
  type StdioToolkit,
  type UserScope,
  type UserThread,
  type WorkflowInput,
} from '../src/index.ts'
import { ambientContext, fileJournal, nodeDrivers, wordVectors } from '../src/node.ts'
import type { Input } from '../src/services.ts'
import { pglite } from '../src/storage/pglite.ts'

declare const host: Host
declare const ann: UserScope
declare const thread: UserThread
declare const context: ExecutionContext
declare const definition: WorkflowInput
declare const refund: DefinedTool
declare const question: Input
declare const models: Parameters<typeof nodeAgent>[0]['models']
declare const mcpServers: Record<string, object>
declare const masterKey: string
declare const id: string
declare const runId: string
declare const callId: string
declare const stepId: string
declare const handle: string
declare const state: string
declare const code: string
declare const accessToken: string
declare const uriTemplate: string

/** host/create-host.ts */
export async function example1() {
  await host.toolkits.add({ name: 'github', url: 'https://example.com/mcp', auth: { type: 'oauth' } })
}

/** host/create-host.ts */
export async function example2() {
  await host.toolkits.update('github', { enabled: false })
}

/** host/create-host.ts */
export async function example3() {
  await host.toolkits.remove('github')
}

/** host/create-host.ts */
export async function example4() {
  const toolkits = await host.toolkits.list()
  return { toolkits }
}

/** host/create-host.ts */
export async function example5() {
  const { entries } = await host.toolkits.import({ mcpServers }, { dryRun: true })
  return { entries }
}

/** host/create-host.ts */
export async function example6() {
  const { mcpServers } = await host.toolkits.export()
  return { mcpServers }
}

/** host/create-host.ts */
export async function example7() {
  const { tools } = await host.toolkits.discover({ name: 'docs', url: 'https://example.com/mcp' })
  return { tools }
}

/** host/create-host.ts */
export async function example8() {
  for (const { source, message } of host.toolkits.problems()) console.warn(source, message)
}

/** host/create-host.ts */
export async function example9() {
  const decisions = await host.policy.preview('ann', 'github')
  return { decisions }
}

/** host/create-host.ts */
export async function example10() {
  const { connections } = await host.ops.status()
  return { connections }
}

/** host/create-host.ts */
export async function example11() {
  await host.ops.warm({ userId: 'ann' })
}

/** host/create-host.ts */
export async function example12() {
  if (host.ops.backup) await writeFile('backup.tar.gz', await host.ops.backup())
}

/** host/create-host.ts */
export async function example13() {
  await host.ops.ready()
}

/** host/create-host.ts */
export async function example14() {
  await host.ops.close()
}

/** host/create-host.ts */
export async function example15() {
  const ann = host.user('ann')
  return { ann }
}

/** host/create-host.ts */
export async function example16() {
  await using session = await host.session(context, { toolkits: ['github'] })
  return { session }
}

/** host/create-host.ts */
export async function example17() {
  host.use({
    name: 'own-folder',
    before: 'validation',
    run: ({ arguments: { path }, userId }, { next, refuse }) =>
      String(path).startsWith(`/home/${userId}/`) ? next() : refuse('The path is outside of your folder.'),
  })
}

/** host/create-host.ts */
export async function example18() {
  host.onCall({ after: ({ userId, toolkit, tool }, { status }) => console.log(userId, toolkit, tool, status) })
}

/** host/create-host.ts */
export async function example19() {
  await using host = createHost({ drivers: nodeDrivers({ stdio: 'on' }) })
  const ann = host.user('ann')
  await ann.toolkits.add({
    name: 'files',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '.'],
  })
  const outcome = await ann.call('files.list_directory', { path: '.' })
  return { host, ann, outcome }
}

/** host/user-scope.ts */
export async function example20() {
  const call = ann.call('shop.refund', { order: 7 })
  const approval = await call.approval // resolves if a person must answer first
  await ann.approvals.allow(approval.id)
  const outcome = await call
  return { call, approval, outcome }
}

/** host/user-scope.ts */
export async function example21() {
  const { status } = await ann.calls.get(callId)
  return { status }
}

/** host/user-scope.ts */
export async function example22() {
  const { outcome } = await ann.calls.wait(callId)
  return { outcome }
}

/** host/user-scope.ts */
export async function example23() {
  await ann.calls.cancel(callId)
}

/** host/user-scope.ts */
export async function example24() {
  const [question] = ann.calls.inputs()
  return { question }
}

/** host/user-scope.ts */
export async function example25() {
  ann.calls.answerInput(question.id, { action: 'accept', content: { name: 'Ann' } })
}

/** host/user-scope.ts */
export async function example26() {
  const open = await ann.approvals.list({ status: 'pending' })
  return { open }
}

/** host/user-scope.ts */
export async function example27() {
  const { ref, arguments: args } = await ann.approvals.get(id)
  return { ref, args }
}

/** host/user-scope.ts */
export async function example28() {
  await ann.approvals.allow(id, { remember: 'tool' })
}

/** host/user-scope.ts */
export async function example29() {
  await ann.approvals.deny(id)
}

/** host/user-scope.ts */
export async function example30() {
  const permissions = await ann.grants.list()
  return { permissions }
}

/** host/user-scope.ts */
export async function example31() {
  await ann.grants.add('github.create_issue', 'allow')
}

/** host/user-scope.ts */
export async function example32() {
  await ann.grants.revoke(id)
}

/** host/user-scope.ts */
export async function example33() {
  const rules = await ann.rules.list()
  return { rules }
}

/** host/user-scope.ts */
export async function example34() {
  await ann.rules.set([rule('shop.*', 'ask')])
}

/** host/user-scope.ts */
export async function example35() {
  await ann.toolkits.add({ name: 'files', command: 'npx', args: ['-y', 'some-server'] })
}

/** host/user-scope.ts */
export async function example36() {
  await ann.toolkits.update('files', { enabled: false })
}

/** host/user-scope.ts */
export async function example37() {
  await ann.toolkits.remove('files')
}

/** host/user-scope.ts */
export async function example38() {
  for (const { id, state } of await ann.toolkits.list()) console.log(id, state.status)
}

/** host/user-scope.ts */
export async function example39() {
  const { tools } = await ann.toolkits.get('files')
  return { tools }
}

/** host/user-scope.ts */
export async function example40() {
  await ann.toolkits.enable('files')
}

/** host/user-scope.ts */
export async function example41() {
  await ann.toolkits.disable('files')
}

/** host/user-scope.ts */
export async function example42() {
  await ann.toolkits.refresh('files')
}

/** host/user-scope.ts */
export async function example43() {
  await ann.toolkits.accept('files', 'write_file')
}

/** host/user-scope.ts */
export async function example44() {
  const decisions = await ann.toolkits.decisions('files')
  return { decisions }
}

/** host/user-scope.ts */
export async function example45() {
  const { entries } = await ann.toolkits.import({ mcpServers })
  return { entries }
}

/** host/user-scope.ts */
export async function example46() {
  const { mcpServers } = await ann.toolkits.export()
  return { mcpServers }
}

/** host/user-scope.ts */
export async function example47() {
  const { url } = await ann.toolkits.signIn('github')
  return { url }
}

/** host/user-scope.ts */
export async function example48() {
  await ann.toolkits.finishSignIn({ state, code })
}

/** host/user-scope.ts */
export async function example49() {
  await ann.toolkits.importTokens('github', { accessToken })
}

/** host/user-scope.ts */
export async function example50() {
  const state = await ann.toolkits.signInState('github')
  return { state }
}

/** host/user-scope.ts */
export async function example51() {
  await ann.toolkits.signOut('github')
}

/** host/user-scope.ts */
export async function example52() {
  const resources = await ann.toolkits.resources.list('files')
  return { resources }
}

/** host/user-scope.ts */
export async function example53() {
  const templates = await ann.toolkits.resources.templates('files')
  return { templates }
}

/** host/user-scope.ts */
export async function example54() {
  const { contents } = await ann.toolkits.resources.read('files', 'file:///notes.md')
  return { contents }
}

/** host/user-scope.ts */
export async function example55() {
  await ann.toolkits.resources.complete('files', { uriTemplate, argument: { name: 'path', value: 'no' } })
}

/** host/user-scope.ts */
export async function example56() {
  const prompts = await ann.toolkits.prompts.list('github')
  return { prompts }
}

/** host/user-scope.ts */
export async function example57() {
  const { messages } = await ann.toolkits.prompts.get('github', { name: 'review', arguments: { pr: '7' } })
  return { messages }
}

/** host/user-scope.ts */
export async function example58() {
  await ann.toolkits.prompts.complete('github', { name: 'review', argument: { name: 'pr', value: '7' } })
}

/** host/user-scope.ts */
export async function example59() {
  const skills = await ann.toolkits.skills.list('docs')
  return { skills }
}

/** host/user-scope.ts */
export async function example60() {
  const skill = await ann.toolkits.skills.read('docs', { skill: 'writing' })
  return { skill }
}

/** host/user-scope.ts */
export async function example61() {
  await thread.messages.add({ role: 'user', parts: [{ type: 'text', text: 'Hello' }] })
}

/** host/user-scope.ts */
export async function example62() {
  const messages = await thread.messages.list()
  return { messages }
}

/** host/user-scope.ts */
export async function example63() {
  await thread.messages.clear()
}

/** host/user-scope.ts */
export async function example64() {
  const { id } = await ann.threads.create({ title: 'Release' })
  return { id }
}

/** host/user-scope.ts */
export async function example65() {
  const { title } = await ann.threads.get(id)
  return { title }
}

/** host/user-scope.ts */
export async function example66() {
  const threads = await ann.threads.list({ limit: 20 })
  return { threads }
}

/** host/user-scope.ts */
export async function example67() {
  await ann.threads.update(id, { title: 'Release 2' })
}

/** host/user-scope.ts */
export async function example68() {
  await ann.threads.delete(id)
}

/** host/user-scope.ts */
export async function example69() {
  const { id } = await ann.workflows.create(defineWorkflow({ name: 'Report', nodes: [] }))
  return { id }
}

/** host/user-scope.ts */
export async function example70() {
  await ann.workflows.update(id, definition)
}

/** host/user-scope.ts */
export async function example71() {
  const workflows = await ann.workflows.list()
  return { workflows }
}

/** host/user-scope.ts */
export async function example72() {
  const workflow = await ann.workflows.get(id)
  return { workflow }
}

/** host/user-scope.ts */
export async function example73() {
  await ann.workflows.delete(id)
}

/** host/user-scope.ts */
export async function example74() {
  const { ok, problems } = await ann.workflows.check(id)
  return { ok, problems }
}

/** host/user-scope.ts */
export async function example75() {
  const run = await ann.workflows.run(id, { month: 'May' })
  return { run }
}

/** host/user-scope.ts */
export async function example76() {
  const { id: runId } = await ann.workflows.start(id, { month: 'May' })
  return { runId }
}

/** host/user-scope.ts */
export async function example77() {
  const run = await ann.workflows.rerun(runId, { from: 'send' })
  return { run }
}

/** host/user-scope.ts */
export async function example78() {
  for await (const { node, status } of ann.workflows.follow(runId)) console.log(node, status)
}

/** host/user-scope.ts */
export async function example79() {
  const { status } = await ann.runs.get(id)
  return { status }
}

/** host/user-scope.ts */
export async function example80() {
  const runs = await ann.runs.list({ limit: 20 })
  return { runs }
}

/** host/user-scope.ts */
export async function example81() {
  const { output } = await ann.runs.wait(id)
  return { output }
}

/** host/user-scope.ts */
export async function example82() {
  await ann.runs.cancel(id)
}

/** host/user-scope.ts */
export async function example83() {
  await ann.runs.resolve(id, { stepId, decision: 'repeat' })
}

/** host/user-scope.ts */
export async function example84() {
  const outcome = await ann.call('files.read_file', { path: 'notes.md' })
  return { outcome }
}

/** host/user-scope.ts */
export async function example85() {
  const { callId } = await ann.call('report.build', {}, { background: true, idempotencyKey: 'may' })
  return { callId }
}

/** host/user-scope.ts */
export async function example86() {
  const { tools } = await ann.loadout()
  return { tools }
}

/** host/user-scope.ts */
export async function example87() {
  const selection = await ann.thread('t1').select({ prompt: 'Close issue 7' })
  return { selection }
}

/** host/user-scope.ts */
export async function example88() {
  const page = await ann.results.read(handle, { fromLine: 100, lines: 50 })
  return { page }
}

/** host/user-scope.ts */
export async function example89() {
  const { tools } = await ann.search('create an issue', { limit: 5 })
  return { tools }
}

/** host/user-scope.ts */
export async function example90() {
  const { theme } = await ann.preferences.get()
  return { theme }
}

/** host/user-scope.ts */
export async function example91() {
  await ann.preferences.update({ theme: 'dark' })
}

/** host/user-scope.ts */
export async function example92() {
  const { callsThisHour } = await ann.usage()
  return { callsThisHour }
}

/** host/user-scope.ts */
export async function example93() {
  await ann.delete()
}

/** host/options.ts */
export async function example94() {
  return createHost({ storage: pglite({ dataDir: './data' }) })
}

/** host/options.ts */
export async function example95() {
  return createHost({ keyRing: () => masterKeyRing(masterKey) })
}

/** host/options.ts */
export async function example96() {
  return createHost({ drivers: nodeDrivers({ stdio: 'on' }) })
}

/** host/options.ts */
export async function example97() {
  return createHost({ toolkits: { servers: { github: { url: 'https://example.com/mcp' } }, tools: [refund] } })
}

/** host/options.ts */
export async function example98() {
  return createHost({ policy: { rules: [rule('github.create_*', 'ask')], approvalTimeoutMs: 300_000 } })
}

/** host/options.ts */
export async function example99() {
  return createHost({
    policy: ({ ref, arguments: { amount } }) => (ref === 'shop.refund' && Number(amount) > 100 ? 'ask' : undefined),
  })
}

/** host/options.ts */
export async function example100() {
  return createHost({ search: { vectors: wordVectors } })
}

/** host/options.ts */
export async function example101() {
  return createHost({ executor: quickjs({ timeoutMs: 30_000 }) })
}

/** host/options.ts */
export async function example102() {
  return createHost({ agent: nodeAgent({ models }) })
}

/** host/options.ts */
export async function example103() {
  return createHost({ oauth: { redirectUrl: 'https://app.example/oauth/callback' } })
}

/** host/options.ts */
export async function example104() {
  return createHost({ audit: { journal: fileJournal({ dir: './journal' }) } })
}

/** host/options.ts */
export async function example105() {
  return createHost({ telemetry: { onCall: ({ ref, ms }) => console.log(ref, ms) } })
}

/** host/options.ts */
export async function example106() {
  return createHost({ runtime: { config: { limits: { maxCallsPerHour: 100 } }, runInContext: ambientContext } })
}

/** thread.ts */
export async function example107() {
  await thread.activate('github', 'files.read_*')
}

/** thread.ts */
export async function example108() {
  await thread.deactivate('github.delete_repo')
}

/** thread.ts */
export async function example109() {
  await thread.use(['github'])
}

/** thread.ts */
export async function example110() {
  await thread.reset()
}

/** thread.ts */
export async function example111() {
  const rules = await thread.activations()
  return { rules }
}

/** thread.ts */
export async function example112() {
  if (await thread.isExclusive()) await thread.reset()
}

/** thread.ts */
export async function example113() {
  console.log(await thread.warnings())
}

/** thread.ts */
export async function example114() {
  const { tools } = await thread.loadout()
  return { tools }
}

/** thread.ts */
export async function example115() {
  const [first] = await thread.explain({ prompt: 'close the issue' })
  return { first }
}

/** thread.ts */
export async function example116() {
  const selection = await thread.select({ prompt: 'close the issue', limit: 12 })
  return { selection }
}

/** thread.ts */
export async function example117() {
  await thread.load(['github.create_issue'], { sticky: true })
}

/** thread.ts */
export async function example118() {
  await thread.unload()
}

/** thread.ts */
export async function example119() {
  const loaded = await thread.loaded()
  return { loaded }
}

/** thread.ts */
export async function example120() {
  const { output } = await thread.run('return (await github.list_issues({})).length')
  return { output }
}

/** thread.ts */
export async function example121() {
  const outcome = await thread.call({ name: 'files.read_file', arguments: { path: 'notes.md' } })
  return { outcome }
}

/** toolkits/toolkit-input.ts */
export async function example122() {
  const files: StdioToolkit = {
    name: 'files',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '.'],
  }
  return { files }
}

/** toolkits/toolkit-input.ts */
export async function example123() {
  const github: RemoteToolkit = { name: 'github', url: 'https://example.com/mcp', auth: { type: 'oauth' } }
  return { github }
}

/** toolkits/toolkit-input.ts */
export async function example124() {
  const shop: CustomToolkit = { name: 'shop', tools: [defineTool({ name: 'refund', execute: () => 'done' })] }
  return { shop }
}
