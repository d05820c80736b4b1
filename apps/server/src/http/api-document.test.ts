import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServices } from '@loadout/core/services'
import { expect, it } from 'vitest'
import { createApp } from './app.ts'
import { type ApiDocument, referencePage } from './reference-page.ts'

it('the API reference page lists every route and schema and needs no other file', async () => {
  const host = createServices()
  const app = createApp({ host, version: '1.2.3', authenticate: async () => undefined })
  const document = (await (await app.request('/api/openapi.json')).json()) as ApiDocument
  const answer = await app.request('/api/docs')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
  const page = await answer.text()
  const paths = Object.keys(document.paths ?? {})
  expect(paths.length).toBeGreaterThan(80)
  for (const path of paths) expect(page).toContain(`<code>${path}</code>`)
  for (const name of Object.keys(document.components?.schemas ?? {})) expect(page).toContain(`id="schema-${name}"`)
  // Every link has a target.
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  expect([...page.matchAll(/(?:src|href)="(?!#)([^"]+)"/g)].map(([, at]) => at)).toEqual([
    '/api/docs/page.css',
    '/api/openapi.json',
  ])
  expect((await app.request('/api/docs/page.css')).headers.get('content-type')).toContain('text/css')
  await host.close()
})

it('the API reference page escapes HTML in descriptions', async () => {
  const evil = '<script>alert(1)</script>'
  const page = String(
    await referencePage({
      info: { title: evil, version: '1' },
      paths: { '/api/x': { get: { summary: evil, responses: { 200: { description: evil } } } } },
      components: {
        schemas: { X: { description: `${evil} "#/components/schemas/X"`, $ref: '#/components/schemas/X' } },
      },
    }),
  )
  expect(page).not.toContain('<script>')
  expect(page).toContain('&lt;script&gt;alert(1)')
})

it('the API document names every shared schema, without a patched zod', async () => {
  const host = createServices()
  const app = createApp({ host, authenticate: async () => undefined })
  const document = (await (await app.request('/api/openapi.json')).json()) as ApiDocument
  expect(Object.keys(document.components?.schemas ?? {}).sort()).toEqual([
    'Activation',
    'ApiKey',
    'ApiKeyInput',
    'AppConfig',
    'AppToolkit',
    'Approval',
    'AuditLine',
    'AuditVerdict',
    'CallResult',
    'CallWaiting',
    'ChatInput',
    'CheckScope',
    'Completion',
    'ConfigCheckInput',
    'ConfigInput',
    'Entered',
    'Explanation',
    'ExportedConfig',
    'FoundTool',
    'Grant',
    'GrantInput',
    'Health',
    'ImportInput',
    'ImportReport',
    'Input',
    'Invocation',
    'ListedToolkit',
    'LoadedTools',
    'Loadout',
    'LoadoutTool',
    'Message',
    'Models',
    'NewApiKey',
    'PolicyRules',
    'Preferences',
    'PreferencesPatch',
    'Preflight',
    'Problem',
    'Reason',
    'RemovedUser',
    'ResultPart',
    'Rotated',
    'Run',
    'SelectedTool',
    'Selection',
    'ServerOutput',
    'Session',
    'SessionState',
    'SignInLink',
    'SignedInUser',
    'SourceProblem',
    'StartSettings',
    'StdioRules',
    'StdioTemplate',
    'StoredTool',
    'Thread',
    'ToolDecision',
    'ToolDeclaration',
    'ToolExplanation',
    'ToolManifest',
    'Toolkit',
    'ToolkitInput',
    'Trial',
    'TrialInput',
    'Usage',
    'UsageHistory',
    'User',
    'UserLink',
    'Workflow',
    'WorkflowDefinition',
  ])
  await host.close()
})

it('no route describes a schema by a method that a library adds to zod', async () => {
  const root = join(import.meta.dirname, '..')
  for await (const path of glob('**/*.ts', { cwd: root })) {
    const source = await readFile(join(root, path), 'utf8')
    expect([path, /\.openapi\(['{]|\bz\b[^;\n]* from '@hono\/zod-openapi'/.test(source)]).toEqual([path, false])
  }
})
