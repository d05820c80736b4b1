import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './import-graph.ts'

/** The export map and every name in it. A change here is a change of the public surface: make it on purpose. */
const PINNED: Record<string, string[]> = {
  '.': [
    'APP_OWNER',
    'ERRORS',
    'HostError',
    'READ_RESULT',
    'SEARCH_TOOLS',
    'browserKeyRing',
    'clientMetadataOf',
    'createExecutionContext',
    'createHost',
    'createToolIndex',
    'defineTool',
    'defineToolkit',
    'defineWorkflow',
    'exportToolkits',
    'masterKeyRing',
    'newId',
    'readTools',
    'rule',
    'scopeChain',
    'search',
    'tierOf',
    'tokenizerOf',
    'withExecutionContext',
  ],
  './node': [
    'addKey',
    'createGuardedFetch',
    'fileJournal',
    'fileSource',
    'folderHolder',
    'getExecutionContext',
    'keyFileRing',
    'localFiles',
    'nodeDrivers',
    'setupToolkits',
    'withExecutionContext',
    'wordVectors',
  ],
  './schema': [
    'KEY_SCOPES',
    'STATES',
    'STRATEGIES',
    'activationRef',
    'apiKeyInput',
    'apiKeyView',
    'appConfig',
    'appConfigPatch',
    'approvalAnswer',
    'approvalStatus',
    'approvalView',
    'assertPlainJson',
    'auditView',
    'configType',
    'exportFormat',
    'exportedConfig',
    'importOptions',
    'importReport',
    'invalidInput',
    'jsonObject',
    'keyScope',
    'loadoutEntry',
    'parse',
    'parseJson',
    'policyRules',
    'preferences',
    'preferencesPatch',
    'principal',
    'programInput',
    'reason',
    'resolveInput',
    'role',
    'runView',
    'selection',
    'stdioTemplates',
    'threadInput',
    'threadPatch',
    'threadSettings',
    'tier',
    'toolManifest',
    'toolView',
    'toolkitId',
    'toolkitOptions',
    'toolkitState',
    'toolkitView',
    'userId',
  ],
  './transformers': ['describe', 'filter', 'prefix', 'providerOptions', 'tighten'],
  './storage/memory': ['memory'],
  './storage/pglite': ['pglite', 'restorePglite'],
  './storage/postgres': ['postgres'],
  './storage/indexeddb': ['indexedDb'],
  './ai': ['toAI'],
  './ai/anthropic': ['answerAnthropic', 'callAll', 'readAnthropic', 'toAnthropic', 'withoutLost'],
  './ai/embedder': ['aiEmbedder'],
  './ai/openai': [
    'answerOpenAI',
    'answerOpenAIChat',
    'callAll',
    'readOpenAI',
    'readOpenAIChat',
    'toOpenAI',
    'toOpenAIChat',
  ],
  './code-mode/quickjs': ['quickjs'],
  './code-mode/worker': ['worker'],
  './code-mode/worker-guest': [],
  './testing': ['executorSuite', 'startModelServer', 'storageSuite'],
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/loadout/package.json'), 'utf8'))
const { './package.json': _, ...entries } = manifest.exports as Record<string, string>

describe('the public surface', () => {
  it('has these entries', () => expect(Object.keys(entries)).toEqual(Object.keys(PINNED)))

  for (const [entry, file] of Object.entries(entries))
    it(`${entry} exports these names`, async () => {
      const module = await import(join(ROOT, 'packages/loadout', file))
      expect(Object.keys(module).sort()).toEqual(PINNED[entry])
    })
})
