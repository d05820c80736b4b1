/** Screens of workflows and runs, each from scratch. */

import { rule } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'

const USER = { tier: 'user', userId: 'local' } as const

const LETTER = {
  name: 'Letter to a customer',
  description: 'Looks the customer up, drafts a letter, asks, and counts its words.',
  input: {
    type: 'object',
    properties: { name: { type: 'string', description: 'Who gets the letter', default: 'Ada' } },
    required: ['name'],
  },
  nodes: [
    {
      id: 'draft',
      type: 'code',
      program: 'return `Dear ${input.name}, welcome.`',
      input: { name: '{{ input.name }}' },
    },
    {
      id: 'ask',
      type: 'approval',
      message: 'Send “{{ nodes.draft.output }}”?',
      arguments: { text: '{{ nodes.draft.output }}' },
    },
    { id: 'words', type: 'tool', ref: 'texts.words', arguments: { text: '{{ nodes.draft.output }}' }, after: ['ask'] },
    { id: 'long', type: 'branch', when: 'size(nodes.draft.output) > 20', onTrue: ['shorten'], onFalse: ['keep'] },
    { id: 'shorten', type: 'code', program: 'return "shortened"' },
    { id: 'keep', type: 'code', program: 'return "kept"' },
    { id: 'each', type: 'map', over: '[1, 2, 3]', node: 'square' },
    { id: 'square', type: 'code', program: 'console.log(input); return input * input', input: '{{ item }}' },
  ],
}
const DONE = {
  name: 'Squares',
  nodes: [
    { id: 'each', type: 'map', over: '[1, 2, 3]', node: 'square' },
    {
      id: 'square',
      type: 'code',
      program: 'console.log("square of", input); return input * input',
      input: '{{ item }}',
    },
    { id: 'sum', type: 'code', program: 'return input.reduce((a, b) => a + b)', input: '{{ nodes.each.output }}' },
  ],
}
const BROKEN = {
  name: 'Divides by nothing',
  nodes: [{ id: 'divide', type: 'code', program: 'throw new Error("There is nothing to divide by.")' }],
}

export async function fill(host: HostServices): Promise<void> {
  const texts = {
    name: 'texts',
    tools: [
      {
        name: 'words',
        description: 'Counts the words of a text.',
        annotations: { readOnlyHint: true, idempotentHint: true },
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string', description: 'The text' } },
          required: ['text'],
        },
        execute: 'return { words: input.text.split(" ").length }',
      },
      {
        name: 'forget',
        description: 'Forgets a text for good.',
        annotations: { destructiveHint: true },
        inputSchema: { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer' } } },
        execute: 'return null',
      },
    ],
  }
  await host.toolkits.register(texts, USER)
  await host.rules.set({}, [rule('texts.words', 'allow')])
  await host.workflows.create('local', LETTER)
  await host.workflows.create('local', BROKEN)
  await host.workflows.create('local', DONE)
}

const open = async (page: Page, name: string) => {
  await page.goto('/workflows')
  await page.getByRole('link', { name, exact: true }).first().click()
  await page.getByRole('tab', { name: 'Build' }).waitFor()
  await page.locator('[data-graph-node]').first().waitFor()
}
const run = async (page: Page, name: string, state: string) => {
  await open(page, name)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.locator(`[aria-live] [data-status="${state}"]`).waitFor()
  await page.locator('[data-graph-node]').first().waitFor()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  workflows: async (page) => {
    await page.goto('/workflows')
    await page.getByRole('heading', { name: 'Your workflows' }).waitFor()
  },
  'new workflow': async (page) => {
    await page.goto('/workflows/new')
    await page.getByText('The graph is drawn here').waitFor()
  },
  'workflow settings': (page) => open(page, LETTER.name),
  'tool node': async (page) => {
    await open(page, LETTER.name)
    await page.getByRole('button', { name: 'Tool call: words' }).click()
    await page.getByRole('group', { name: 'text' }).waitFor()
  },
  'agent node': async (page) => {
    await page.goto('/workflows/new')
    await page.getByRole('button', { name: 'Add node' }).click()
    await page.getByRole('menuitem', { name: /^Agent/ }).click()
    await page.getByText('Order, retries and errors').click()
    await page.getByRole('combobox', { name: 'Model' }).waitFor()
  },
  'approval node': async (page) => {
    await open(page, LETTER.name)
    await page.getByRole('button', { name: 'Approval: ask' }).click()
    await page.getByText('Order and errors').click()
    await page.getByRole('textbox', { name: 'Question' }).waitFor()
  },
  'tool picker': async (page) => {
    await SCREENS['tool node']?.(page)
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('button', { name: 'words', exact: true }).waitFor()
  },
  'problems found': async (page) => {
    await page.goto('/workflows/new?from=branch')
    await page.getByRole('button', { name: 'Branch: decide' }).click()
    await page.getByRole('textbox', { name: 'Condition' }).fill('input.nothing > 1')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('alert').waitFor()
  },
  'workflow as JSON': async (page) => {
    await open(page, LETTER.name)
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.locator('[data-code-editor]').waitFor()
  },
  versions: async (page) => {
    await open(page, LETTER.name)
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText('current').waitFor()
  },
  'run dialog': async (page) => {
    await open(page, LETTER.name)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('dialog').getByRole('textbox').first().waitFor()
  },
  'run that waits': async (page) => {
    await run(page, LETTER.name, 'paused')
    await page.getByRole('article').waitFor()
  },
  'run that is done': (page) => run(page, DONE.name, 'completed'),
  'run that failed': (page) => run(page, BROKEN.name, 'failed'),
}
