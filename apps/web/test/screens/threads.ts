/** States of the pages of threads, each from scratch. */

import { rule } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'

const THREAD = 'screens-chat'

const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
})
const chosen = (ref: string, score: number, reasons: string[]) => ({
  ref,
  modelName: `mcp_${ref.replace('.', '_')}`,
  toolkit: ref.split('.')[0],
  by: 'search',
  score,
  reasons,
  tokens: 84,
})

export async function fill(host: HostServices): Promise<void> {
  const tools = [
    { ...tool('search_notes', 'Searches notes by words.'), execute: 'return []' },
    { ...tool('write_note', 'Writes a note.'), execute: 'return 1' },
  ]
  await host.toolkits.register({ name: 'Notebook', tools }, { tier: 'user', userId: 'local' })
  await host.threads.create('local', { id: 'screens-empty', title: 'Nothing said yet' })
  await host.threads.create('local', {
    id: THREAD,
    title: 'What did we decide about the budget, and who wrote it down?',
  })
  await host.rules.set({ userId: 'local', threadId: THREAD }, [
    rule('notebook.write_note', { reason: 'Nothing is written while we only look.' }, 'deny'),
    rule('notebook.*', 'ask'),
  ])
  await host.messages.add('local', THREAD, {
    role: 'user',
    parts: [{ type: 'text', text: 'What did we decide about the budget?' }],
  })
  await host.messages.add('local', THREAD, {
    role: 'assistant',
    metadata: { model: 'anthropic:claude-opus-5-5' },
    parts: [
      {
        type: 'data-selection',
        id: 'selection',
        data: {
          tools: [
            chosen('notebook.search_notes', 0.94, ['"notes" in its name', '"decide" means something alike']),
            chosen('notebook.write_note', 0.41, ['It means something alike.']),
          ],
          deferred: 38,
          dropped: [],
          strategy: 'hybrid',
          warnings: [],
          tokens: { before: 6120, after: 342, tokenizer: 'o200k_base', exact: true },
        },
      },
      {
        type: 'dynamic-tool',
        toolName: 'mcp_notebook_search_notes',
        toolCallId: 'c1',
        state: 'output-available',
        input: { query: 'budget' },
        output: { status: 'ok', content: [{ type: 'text', text: '3 notes' }] },
      },
      {
        type: 'text',
        text: 'Three notes tell of it:\n\n1. **March**: the budget is `40,000`.\n2. **April**: it was raised.\n\n| month | amount |\n| --- | --- |\n| March | 40,000 |\n| April | 45,000 |',
      },
      {
        type: 'data-usage',
        id: 'usage',
        data: { inputTokens: 812, outputTokens: 96, totalTokens: 908, steps: 2, stopped: 'done' },
      },
    ],
  })
}

async function openRules(page: Page): Promise<void> {
  await page.goto(`/threads/${THREAD}`)
  const open = page.getByRole('button', { name: 'Tools', exact: true })
  await page.getByText(/908 tokens used/).waitFor()
  await page.getByRole('table').waitFor()
  if (await open.isVisible()) await open.click()
  await page.getByRole('tab', { name: 'Rules' }).click()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  threads: async (page) => {
    await page.goto('/threads')
    await page.getByRole('link', { name: 'Nothing said yet' }).waitFor()
  },
  'rename thread': async (page) => {
    await page.goto('/threads')
    await page.getByRole('button', { name: 'Actions for Nothing said yet' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').waitFor()
  },
  'thread with an answer': async (page) => {
    await page.goto(`/threads/${THREAD}`)
    await page.getByText(/908 tokens used/).click()
    await page.getByRole('list', { name: 'Chosen tools' }).waitFor()
    await page.getByRole('table').waitFor()
  },
  'thread without a model': async (page) => {
    await page.goto('/threads/screens-empty?mode=ask')
    await page.getByText('No model is chosen yet').waitFor()
  },
  'thread finds tools': async (page) => {
    await page.goto('/threads/screens-empty?mode=find')
    await page.getByRole('textbox', { name: /Say what should be done/ }).fill('search my notes')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'Search' }).waitFor()
  },
  'thread runs a program': async (page) => {
    await page.goto('/threads/screens-empty?mode=program')
    await page.locator('[data-code-editor]').waitFor()
    await page.getByRole('textbox', { name: 'Program' }).fill('console.log("counting")\nreturn [1, 2, 3].length')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('article', { name: 'Program' }).last().getByText('Value').waitFor()
  },
  'thread tools': async (page) => {
    await page.goto('/threads/screens-empty?mode=find')
    const open = page.getByRole('button', { name: 'Tools', exact: true })
    const kit = page.getByRole('button', { name: 'Tools of Notebook' })
    await page.getByRole('heading', { level: 1, name: 'Nothing said yet' }).waitFor()
    if (await open.isVisible()) await open.click()
    await kit.click()
    await page.getByRole('switch', { name: 'Carry notebook.write_note' }).waitFor()
  },
  'thread why': async (page) => {
    await page.goto('/threads/screens-empty?mode=find')
    const open = page.getByRole('button', { name: 'Tools', exact: true })
    await page.getByRole('heading', { level: 1, name: 'Nothing said yet' }).waitFor()
    if (await open.isVisible()) await open.click()
    await page.getByRole('tab', { name: 'Why' }).click()
    await page.getByRole('list', { name: 'Why each tool is carried or not' }).waitFor()
  },
  'thread rules': async (page) => {
    await openRules(page)
    await page.getByRole('list', { name: 'Rules of this thread' }).waitFor()
  },
  'new rule of a thread': async (page) => {
    await openRules(page)
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByText('Only where…').click()
    await page.getByRole('combobox', { name: 'Called by' }).waitFor()
  },
  'choose a model': async (page) => {
    await page.goto('/threads/screens-empty?mode=ask')
    await page.getByRole('button', { name: 'choose a model', exact: true }).click()
    await page.getByRole('dialog', { name: 'Model' }).waitFor()
  },
}
