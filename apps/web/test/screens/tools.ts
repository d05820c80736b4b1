/** The page of tools, over real servers and one whose schemas have everything. */
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { EVERYTHING, FILESYSTEM } from '../../../../test/real-servers.ts'

const USER = { tier: 'user', userId: 'local' } as const

/** A schema with what schemas have, so that a form must draw it all. */
export const RICH = {
  type: 'object',
  required: ['title', 'shape', 'pair'],
  properties: {
    title: { type: 'string', minLength: 2, description: 'What it is called' },
    content: { type: 'string' },
    count: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
    draft: { type: 'boolean' },
    colour: { enum: ['red', 'green'] },
    tags: { type: 'array', items: { type: 'string' } },
    days: { type: 'array', uniqueItems: true, items: { enum: ['mon', 'tue'] } },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 },
    shape: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind', 'radius'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'square' }, side: { type: 'number' } },
          required: ['kind', 'side'],
        },
      ],
    },
    tree: { $ref: '#/$defs/Node' },
    extra: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  $defs: {
    Node: {
      type: 'object',
      properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
    },
  },
}

const NESTED = (levels: number): object =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: NESTED(levels - 1) } }

const custom = {
  name: 'Drawing',
  tools: [
    {
      name: 'draw',
      title: 'Draw a shape',
      description: 'Draws a shape.\nIt gives back what it was given.',
      inputSchema: RICH,
      annotations: { readOnlyHint: true },
      execute: 'return input',
    },
    {
      name: 'large',
      description: 'Gives a text that is too large to be given whole.',
      inputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true },
      execute: 'return "line\\n".repeat(40000)',
    },
    {
      name: 'deep',
      description: 'Its schema lies too deep for a form.',
      inputSchema: NESTED(30),
      annotations: { readOnlyHint: true },
      execute: 'return input',
    },
  ],
}

export async function fill({ toolkits, catalog }: HostServices): Promise<void> {
  const servers = [
    { name: 'Everything', command: process.execPath, args: [EVERYTHING] },
    { name: 'Documents', command: process.execPath, args: [FILESYSTEM, '.'] },
    custom,
  ]
  for (const record of servers) {
    const { stored } = await toolkits.register(record, USER)
    await catalog.introspect(stored, 'local')
  }
}

const list = (page: Page) => page.getByRole('list', { name: 'Tools by server' })

const open = async (page: Page, search = '') => {
  await page.goto(`/tools${search}`)
  await page.locator('h1', { hasText: 'Tools' }).waitFor({ state: 'attached' })
}

/** Each from scratch. */
export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  tools: async (page) => {
    await open(page)
    await list(page)
      .getByRole('button', { name: /^Everything/ })
      .waitFor()
    await list(page).getByRole('link', { name: /^echo/ }).waitFor()
  },
  'tools that fit': async (page) => {
    await open(page, '?q=read+a+file')
    await page.getByRole('list', { name: 'Tools that fit' }).getByRole('link').first().waitFor()
  },
  'a tool with its form': async (page) => {
    await open(page, '?tool=drawing.draw')
    await page.getByRole('textbox', { name: 'title' }).waitFor()
    await page.getByText('Is allowed', { exact: true }).waitFor()
  },
  'a tool in TypeScript': async (page) => {
    await open(page, '?tool=drawing.draw')
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await page.locator('.cm-content').getByText('declare const drawing').waitFor()
  },
  'a form with mistakes': async (page) => {
    await SCREENS['a tool with its form']?.(page)
    await page.getByRole('button', { name: 'Add tree' }).click()
    await page.getByRole('button', { name: 'Add an item to tags' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('[aria-invalid=true]').first().waitFor()
  },
  'arguments as JSON': async (page) => {
    await SCREENS['a tool with its form']?.(page)
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.locator('.cm-content').waitFor()
  },
  'a schema without a form': async (page) => {
    await open(page, '?tool=drawing.deep')
    await page.getByText('There is no form for this schema').waitFor()
    await page.locator('.cm-content').waitFor()
  },
  'a picture as a result': async (page) => {
    await open(page, '?tool=everything.get-tiny-image')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('img', { name: /The result/ }).waitFor()
  },
  'a call that asks': async (page) => {
    await open(page, '?tool=everything.toggle-simulated-logging')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: /^Allow .* once$/ }).waitFor()
  },
}
