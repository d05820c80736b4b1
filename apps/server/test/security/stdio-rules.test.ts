/** What users are told of the commands that they may bring: what is asked of them, and nothing that the operator wrote down. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { readConfig } from '../../src/config.ts'
import { type RunningServer, startServer } from '../../src/serve.ts'

const TEMPLATES = [
  {
    id: 'notes',
    title: 'Notes',
    description: 'Your notes.',
    command: '/opt/operators-own/notes-server',
    args: ['--token=operators-secret', '--folder={folder}'],
    env: { NOTES_KEY: 'operators-key', NOTES_USER: '{user}' },
    cwd: '/opt/operators-own',
    holes: {
      user: { type: 'string', title: 'User name', secret: false },
      folder: { type: 'path', roots: ['/srv/notes'], description: 'Where they lie.' },
    },
  },
]

let folder: string
let server: RunningServer | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-stdio-'))
  await copyPrepared(folder)
})
afterEach(async () => {
  await server?.close()
  server = undefined
  await rm(folder, { recursive: true, force: true })
})

async function rulesWith(stdio: string, templates?: object) {
  const file = join(folder, 'templates.json')
  await writeFile(file, JSON.stringify(templates ?? []))
  const env = { PORT: '0', LOADOUT_DATA_DIR: folder, LOG_LEVEL: 'silent', LOADOUT_STDIO: stdio }
  server = await startServer(readConfig({ ...env, ...(templates ? { LOADOUT_STDIO_TEMPLATES: file } : {}) }))
  return (await fetch(`${server.url}/api/stdio`)).text()
}

describe('GET /api/stdio', () => {
  it('shows the purpose and the inputs of a template and none of its contents', async () => {
    const rules = await rulesWith('templates', TEMPLATES)
    expect(JSON.parse(rules)).toEqual({
      policy: 'templates',
      templates: [
        {
          id: 'notes',
          title: 'Notes',
          description: 'Your notes.',
          holes: [
            { name: 'user', hole: { type: 'string', title: 'User name', secret: false, maxLength: 200 } },
            {
              name: 'folder',
              hole: { type: 'path', roots: ['/srv/notes'], description: 'Where they lie.', maxLength: 1024 },
            },
          ],
        },
      ],
    })
    expect(rules).not.toContain('operators')
    const settings = await (await fetch(`${server?.url}/api/app/settings`)).json()
    expect(settings).not.toHaveProperty('offered')
  })

  it('lists no templates under another policy', async () => {
    expect(JSON.parse(await rulesWith('off', TEMPLATES))).toEqual({ policy: 'off', templates: [] })
  })
})
