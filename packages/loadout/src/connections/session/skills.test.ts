/** Skills of a real server: listed by their entries, read file by file, and without output on the console. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { programPath } from '../../../../../test/program-path.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { nodeDrivers } from '../node-drivers.ts'

const SERVER = programPath(fileURLToPath(new URL('../../../test/fixtures/skills-server.ts', import.meta.url)))
const ANN = { tier: 'user', userId: 'ann' } as const

let host: HostServices
beforeAll(async () => {
  host = createServices({ drivers: nodeDrivers({}) })
  for (const [name, ...args] of [['skilled'], ['plain', 'none']] as const)
    await host.toolkits.register({ name, command: process.execPath, args: [SERVER, ...args] }, ANN)
})
afterAll(() => host.close())

it('host.skills lists skills by their entries', async () => {
  const [letters, ...more] = await host.skills.list('ann', 'skilled')
  expect(more).toEqual([])
  expect(letters).toMatchObject({ frontmatter: { name: 'letters', description: 'How we write letters.' } })
})

it('host.skills reads skill files, including large binary files', async () => {
  const [letters] = await host.skills.list('ann', 'skilled')
  const skill = String(letters?.uri)
  const file = await host.skills.read('ann', 'skilled', { skill })
  expect(file).toMatchObject({ verified: true, frontmatter: { name: 'letters' }, body: 'Short, and to the point.\n' })
  expect(await host.skills.read('ann', 'skilled', { skill, file: 'references/FORMS.md' })).toMatchObject({
    text: '# Forms\n',
  })
  const { blob } = await host.skills.read('ann', 'skilled', { skill, file: 'assets/seal.png' })
  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251)
  expect(Buffer.from(String(blob), 'base64').equals(bytes)).toBe(true)
  await expect(host.skills.read('ann', 'skilled', { skill, file: 'no.md' })).rejects.toMatchObject({
    code: expect.any(String),
  })
})

it('host.skills lists nothing for a server without skills and logs nothing', async () => {
  const debug = vi.spyOn(console, 'debug')
  expect(await host.skills.list('ann', 'plain')).toEqual([])
  expect(debug).not.toHaveBeenCalled()
  debug.mockRestore()
  await expect(host.skills.read('ann', 'plain', { skill: 'skill://x' })).rejects.toMatchObject({
    code: 'invalid-input',
  })
})
