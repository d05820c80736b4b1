/** What a server says of its secrets when it fails: neither the program nor the log of its run has them. */
import { expect, it } from 'vitest'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { startFaultServer } from '../fixtures/fault-http.ts'

const SECRET = 'planted-5f0c1c7e-of-the-toolkit'

it.each([
  ['says', { content: [{ type: 'text', text: `the key ${SECRET} is not known` }], isError: true }],
  ['gives', { content: [], structuredContent: { why: `bad ${btoa(SECRET)}` }, isError: true }],
])('redacts the secret of a tool that %s it', async (_, result) => {
  const server = await startFaultServer({ at: { 'tools/call': { do: 'result', result } } })
  await using host = createServices({
    executor: quickjs({ spares: 1 }),
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
  })
  await host.ready()
  await host.toolkits.register(
    { name: 'kit', url: server.url, auth: { type: 'bearer', token: SECRET } },
    { tier: 'user', userId: 'ann' },
  )
  const program = 'try { return await kit.echo({}) } catch (error) { return [error.code, error.message, error.data] }'
  const run = await host.thread({ userId: 'ann', threadId: 't' }).run(program)
  const rows = await host.storage.transaction({ userId: 'ann' }, (tx) => tx.list('steps', {}))
  expect(run).toMatchObject({ status: 'completed', steps: [{ status: 'failed', error: { code: 'tool-error' } }] })
  expect(JSON.stringify(rows)).toContain('•••')
  for (const secret of [SECRET, btoa(SECRET)]) expect(JSON.stringify([run, rows])).not.toContain(secret)
  await server.close()
})
