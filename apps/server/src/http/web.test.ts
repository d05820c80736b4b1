/** The page and its CSP: the style nonce differs in each response. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServices } from '@loadout/core/services'
import { expect, it } from 'vitest'
import { createApp } from './app.ts'

it('the web page carries its CSP nonce, and the policy blocks other inline styles and scripts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-page-'))
  await copyFile(new URL('../../../web/index.html', import.meta.url), join(folder, 'index.html'))
  const app = createApp({
    host: createServices(),
    authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }),
    webDir: folder,
  })
  const read = async () => {
    const response = await app.request('/connectors')
    const policy = response.headers.get('content-security-policy') ?? ''
    const [, nonce = ''] = /nonce="([^"]*)"/.exec(await response.text()) ?? []
    return { policy, nonce }
  }
  const first = await read()
  const second = await read()
  expect(first.nonce).toMatch(/^[\w+/]{22}==$/)
  expect(first.policy).toContain(`style-src 'self' 'nonce-${first.nonce}'`)
  expect(second.policy).toContain(`style-src 'self' 'nonce-${second.nonce}'`)
  expect(second.nonce).not.toBe(first.nonce)
  expect(first.policy).toContain("script-src 'self';")
  expect(first.policy).not.toContain('unsafe')
  await rm(folder, { recursive: true })
})
