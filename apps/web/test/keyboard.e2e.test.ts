/** The main way by keyboard alone: a server is added, its tools are looked at, a workflow picks one, runs, and its log is read. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FILESYSTEM } from '../../../test/real-servers.ts'
import { type OpenApp, openApp } from './open-app.ts'

describe('keyboard navigation', () => {
  let app: OpenApp
  let page: Page
  let folder: string
  const press = (key: string) => page.keyboard.press(key)
  const type = (text: string) => page.keyboard.type(text)
  /** Presses Tab until what has the focus is called so; there is no other way. */
  const reach = async (name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab') => {
    const seen: string[] = []
    for (let presses = 0; presses < 120; presses++) {
      const called = await page.evaluate(calledNow)
      if (typeof name === 'string' ? called === name : name.test(called)) return presses
      seen.push(called)
      await press(key)
    }
    throw new Error(`${name} cannot be reached by ${key}: ${seen.join(' | ')}`)
  }
  const open = async (name: string | RegExp, key?: 'Shift+Tab') => {
    await reach(name, key)
    await press('Enter')
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-keys-'))
    await writeFile(join(folder, 'hello.txt'), 'hello from a file')
    app = await openApp()
    page = await app.open()
    await page.getByRole('button', { name: 'Add server' }).first().waitFor()
    // No hand is on the mouse.
    page.mouse.click = page.click = () => Promise.reject(new Error('There is no mouse.'))
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('adds a server, which connects', async () => {
    await open('Add server')
    await page.getByRole('dialog').waitFor()
    await type('filesystem')
    await reach('Command')
    await type(process.execPath)
    await reach('Arguments')
    await type(FILESYSTEM)
    await press('Enter')
    await type(folder)
    await open('Add server')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText(/^1\d tools, /).waitFor()
  })

  it('opens the tools of a server with the skip link', async () => {
    await page.getByText('filesystem added').waitFor()
    await reach('Actions for filesystem')
    expect(await reach('Skip to the page')).toBeLessThan(4)
    await open('filesystem')
    await page.getByText('read_text_file', { exact: true }).first().waitFor()
  })

  it('opens the workflows by name and builds one with a picked tool', async () => {
    await press('Control+K')
    await page.getByRole('dialog').waitFor()
    await type('Workflows')
    await press('Enter')
    await page.waitForURL(/\/workflows$/)
    await page.getByRole('button', { name: 'New workflow' }).waitFor()
    await open('New workflow')
    await page.getByRole('menuitem', { name: 'Empty workflow' }).waitFor()
    await open('Empty workflow')
    await page.waitForURL(/\/workflows\/new/)
    await reach('Name')
    await type('By keys')
    await open('Add node', 'Shift+Tab')
    await page.getByRole('menu').waitFor()
    await press('Enter')
    await page.waitForURL(/node=/)
    await page.getByRole('button', { name: 'Choose a tool' }).waitFor()
    await open('Choose a tool')
    await reach('Search tools')
    await type('read text file')
    await open('read_text_file')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate(calledNow)).toBe('Change')
    await reach('path')
    await type(join(folder, 'hello.txt'))
    await open('Save', 'Shift+Tab')
    await page.getByText('It is version 1.').waitFor()
    await page.waitForURL(/workflows\/wf/)
  })

  it('runs the workflow and reads the output of its step', async () => {
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    await reach('Run')
    await press('Enter')
    await page.getByRole('dialog').waitFor()
    await open('Run')
    await page.waitForURL(/\/runs\//)
    await page.locator('[aria-live] [data-status="completed"]').waitFor()
    await open(/^filesystem\.read_text_file/)
    await page.locator('[data-node]').getByText('hello from a file').waitFor()
  })
})

/** How what has the focus is called; runs in the page. */
function calledNow(): string {
  const element = document.activeElement
  const isField =
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  const by = element?.getAttribute('aria-labelledby')
  const label = isField ? element.labels?.[0]?.firstChild : by ? document.getElementById(by) : element
  return (element?.getAttribute('aria-label') ?? label?.textContent ?? '').trim()
}
