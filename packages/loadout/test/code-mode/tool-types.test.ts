/** The compiler checks calls and workflows by the file that `loadout types` writes, and accepts everything without it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startModelHost } from '../../../../test/model-host.ts'
import { toolTypes } from '../../src/code-mode/declarations/tool-types.ts'
import { createHost } from '../../src/host/create-host.ts'
import { rule } from '../../src/policy/rules.ts'

const COMPILER_OPTIONS = {
  noEmit: true,
  strict: true,
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
  module: 'nodenext',
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: ['node'],
}

let folder: string
let declared: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-types-'))
  const root = join(import.meta.dirname, '../../../..')
  await mkdir(join(folder, 'node_modules/@loadout'), { recursive: true })
  await symlink(join(root, 'packages/loadout'), join(folder, 'node_modules/@loadout/core'))
  await symlink(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  declared = await declaredTools()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A shop with a required argument, an enum, an output schema and a shared definition. */
async function declaredTools(): Promise<string> {
  await using host = createHost({ policy: [rule('*', 'allow')] })
  const ann = host.user('ann')
  const order = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const execute = () => ({})
  await ann.toolkits.add({
    name: 'shop',
    tools: [
      {
        name: 'refund',
        description: 'Refunds an order. */ alert()',
        inputSchema: {
          type: 'object',
          properties: {
            order: { type: 'integer', description: 'Number of the order' },
            speed: { enum: ['slow', 'fast'] },
            parts: { type: 'array', items: { type: 'number' } },
          },
          required: ['order'],
        },
        outputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
        execute,
      },
      {
        name: 'list-orders',
        inputSchema: { type: 'object', properties: { page: { type: 'integer' } } },
        outputSchema: {
          type: 'object',
          properties: { orders: { type: 'array', items: { $ref: '#/$defs/Order' } } },
          required: ['orders'],
          $defs: { Order: { ...order, description: 'An order of a customer' } },
        },
        execute,
      },
    ],
  })
  const model = await startModelHost()
  const real = await model.host.views.list('ann')
  await model.close()
  return toolTypes([...(await ann.toolkits.list()), ...real, { tier: 'user', tools: UNUSUAL }])
}

const NAMES = ['new', '__proto__', 'a-b', '1', 'é', '"', '\\', '*/', '\n', '\u2028', '\ud800', '${x}', '`', "'"]
const UNUSUAL = NAMES.map((name) => ({
  ref: `odd.${name}`,
  description: `*/ ${name}`,
  inputSchema: {
    type: 'object' as const,
    properties: Object.fromEntries([...NAMES.map((one) => [one, { const: one }]), ['self', { $ref: '#' }]]),
  },
  outputSchema: {
    $ref: '#/$defs/Promise',
    $defs: { Promise: { type: 'object', properties: { [name]: { $ref: '#' } } } },
  },
}))

/** Compiles a program beside the declaration file. Returns the lines with an error. */
async function wrongLines(program: readonly string[], { withTypes }: { withTypes: boolean }): Promise<string[]> {
  const place = await mkdtemp(join(folder, 'app-'))
  const head = ["import { createHost, defineWorkflow } from '@loadout/core'", "const ann = createHost().user('ann')"]
  const lines = [...head, ...program]
  await writeFile(join(place, 'main.ts'), lines.join('\n'))
  // `skipLibCheck` would leave a .d.ts file unchecked.
  if (withTypes) await writeFile(join(place, 'tools.ts'), declared)
  await writeFile(
    join(place, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }),
  )
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [tsc, '--pretty', 'false', '-p', place], { maxBuffer: 2 ** 26 }, (_, stdout) =>
      resolve(stdout),
    ),
  )
  const errors = output.split('\n').filter((line) => line.includes('error TS'))
  return [...new Set(errors.map((line) => lines[Number(/main\.ts\((\d+),/.exec(line)?.[1]) - 1] ?? line))]
}

const RIGHT = [
  "const outcome = await ann.call('shop.refund', { order: 7, speed: 'fast' })",
  "if (outcome.status === 'ok') outcome.structuredContent?.amount.toFixed(2)",
  "const read = await ann.call('filesystem.read_text_file', { path: 'a', head: 2 })",
  "if (read.status === 'ok') read.structuredContent?.content.trim()",
  "const listed = await ann.call('shop.list-orders')",
  "if (listed.status === 'ok') listed.structuredContent?.orders?.[0]?.id.toFixed()",
  "const { callId } = await ann.call('shop.refund', { order: 7 }, { background: true, idempotencyKey: 'a' })",
  'callId.trim()',
  'const open: string = callId',
  'await ann.call(open, { anything: 1 })',
  'await ann.call(`${open}.refund`)',
  "const node = (more: object) => ({ id: 'b', type: 'tool', ref: open, ...more }) as const",
  "defineWorkflow({ name: 'a', nodes: [node({}), { id: 'c', type: 'approval', message: 'Sure?' }] })",
  "const refund = { id: 'a', type: 'tool', ref: 'shop.refund', arguments: { order: '{{ input.order }}', parts: [1, '{{ n }}'] } } as const",
  "defineWorkflow({ name: 'a', nodes: [{ id: 'a', type: 'tool', ref: 'shop.refund', arguments: { order: '{{ input.order }}', parts: [1] } }] })",
  "defineWorkflow({ name: 'a', nodes: [{ id: 'a', type: 'tool', ref: 'shop.list-orders' }] })",
]
const WRONG = [
  "await ann.call('filesystem.read_text_file', { path: 1 })",
  "await ann.call('shop.refnud', { order: 7 })",
  "await ann.call('shop.refund')",
  "await ann.call('shop.refund', { order: '7' })",
  "await ann.call('shop.refund', { order: 7, speed: 'medium' })",
  "await ann.call('shop.refund', { order: 7, oder: 8 })",
  "await ann.call('shop.refund', { ordr: 7 }, { background: true })",
  "defineWorkflow({ name: 'a', nodes: [{ id: 'a', type: 'tool', ref: 'shop.refnud' }] })",
  "defineWorkflow({ name: 'a', nodes: [{ id: 'a', type: 'tool', ref: 'shop.refund' }] })",
  "defineWorkflow({ name: 'a', nodes: [{ id: 'a', type: 'tool', ref: 'shop.refund', arguments: { order: 'seven' } }] })",
]

describe('declared tools', () => {
  it('let the compiler accept right calls with typed results, and reject unknown tools and wrong arguments', async () => {
    expect(await wrongLines([...RIGHT, ...WRONG], { withTypes: true })).toEqual(WRONG)
  })

  it('are optional: without them every ref and every argument is accepted', async () => {
    expect(await wrongLines(WRONG, { withTypes: false })).toEqual([])
  })
})

describe('the declaration file', () => {
  it('is the same for the same tools in another order', async () => {
    const tool = (ref: string) => ({ ref, inputSchema: { type: 'object' as const } })
    const one = { tier: 'user' as const, tools: [tool('a.x'), tool('a.y')] }
    const two = { tier: 'user' as const, tools: [tool('b.x')] }
    expect(toolTypes([two, { ...one, tools: one.tools.toReversed() }])).toBe(toolTypes([one, two]))
  })

  it('has the tools of a user instead of those of the app that they shadow', () => {
    const kit = (tier: 'app' | 'user', name: string) => ({
      tier,
      tools: [{ ref: 'kit.x', inputSchema: { type: 'object' as const, properties: { [name]: true } } }],
    })
    const text = toolTypes([kit('user', 'own'), kit('app', 'global')])
    expect(text).toContain('own?: unknown')
    expect(text).not.toContain('global')
  })
})
