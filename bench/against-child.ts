/** One side of `bench/against.ts`: a host of the checkout that the first argument names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const [root = '', url = ''] = process.argv.slice(2)
const library = join(root, 'packages/loadout/src')
const wiring = ['host/create-services.ts', 'host.ts'].map((file) => join(library, file)).find(existsSync)
if (wiring === undefined) throw new Error(`No host in ${library}`)
const wired = await import(wiring)
const { nodeDrivers } = await import(join(library, 'node.ts'))
const { rule } = await import(
  join(library, existsSync(join(library, 'policy/rule.ts')) ? 'policy/rule.ts' : 'policy/rules.ts')
)
const { defineTool } = await import(join(library, 'toolkits/define-tool.ts'))

/** A custom toolkit has at most 200 tools. */
const toolsOf = (kit: number) =>
  Array.from({ length: 200 }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: `Does the thing number ${kit * 200 + index} with a file`,
      execute: () => 'ok',
    }),
  )
const host = (wired.createServices ?? wired.createHost)({
  drivers: nodeDrivers({ guard: { privateNetwork: true } }),
  policy: [rule('*', 'allow')],
  search: { vectors: false },
})
await host.ready()
const owner = { tier: 'user', userId: 'ann' }
for (let kit = 0; kit < 10; kit++) await host.toolkits.register({ name: `kit${kit}`, tools: toolsOf(kit) }, owner)
await host.toolkits.register({ name: 'remote', url }, owner)
const thread = host.thread({ userId: 'ann', threadId: 't' })
const request = { userId: 'ann', caller: { type: 'direct' }, arguments: {} }
const call = (toolkit: string, tool: string) => host.calls.start({ ...request, toolkit, tool }).outcome
const WORK: Record<string, () => Promise<unknown>> = {
  call: () => call('kit3', 'tool_7'),
  http: () => call('remote', 'echo'),
  loadout: () => (host.loadouts.resolve ?? host.loadouts.of).call(host.loadouts, { userId: 'ann' }),
  select: () => (thread.select ?? thread.resolve)({ prompt: 'do thing 42 with a file', limit: 12 }),
}

process.on('message', async ({ task, count }: { task: string; count: number }) => {
  const started = performance.now()
  for (let made = 0; made < count; made++) {
    const outcome = (await WORK[task]?.()) as { status?: string; error?: Error }
    if (outcome.error) throw outcome.error
  }
  process.send?.(performance.now() - started)
})
process.on('disconnect', () => host.close())
