/**
 * What a model's context holds after one piece of work, done by calls or by a program: 200 orders of 1 KB, three tools, five
 * rows as the answer. `npm run bench:programs [-- --write]`
 */
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { createServices, tokenizerOf } from '@loadout/core/services'
import { markdown, writeSection } from './section.ts'

const RECORDS = 200
const thread = { userId: 'ann', threadId: 'bench' }
const text = { type: 'string' }
interface Report {
  description: string
  output: object
  execute(input: { id: string }): unknown
}
const tool = (name: string, { description, output, execute }: Report) => ({
  name,
  description,
  annotations: { readOnlyHint: true },
  execute,
  inputSchema: { type: 'object', properties: { id: { ...text, description: 'The id' } } },
  outputSchema: { type: 'object', properties: output },
})
/** A record of 1 KB. */
const order = (n: number) => {
  const record = {
    id: `order-${n}`,
    customer: `customer-${n % 40}`,
    total: (n * 37) % 1000,
    status: n % 3 ? 'paid' : 'open',
  }
  return { ...record, note: 'x lorem ipsum dolor '.repeat(60).slice(0, 1024 - JSON.stringify(record).length - 10) }
}
const tools = [
  tool('list_orders', {
    description: 'Lists the ids of all orders.',
    output: { ids: { type: 'array', items: text } },
    execute: () => ({ ids: Array.from({ length: RECORDS }, (_, n) => `order-${n}`) }),
  }),
  tool('get_order', {
    description: 'Reads one order.',
    output: { id: text, customer: text, total: { type: 'number' }, status: text, note: text },
    execute: ({ id }) => order(Number(id.slice(6))),
  }),
  tool('get_customer', {
    description: 'Reads one customer.',
    output: { id: text, name: text },
    execute: ({ id }) => ({ id, name: `Name of ${id}` }),
  }),
]
const PROGRAM = `const { ids } = await shop.list_orders({})
const orders = await Promise.all(ids.map((id) => shop.get_order({ id })))
const open = orders.filter((order) => order.status === 'open').sort((a, b) => b.total - a.total).slice(0, 5)
return Promise.all(open.map(async ({ id, total, customer }) =>
  ({ id, total, name: (await shop.get_customer({ id: customer })).name })))`

await using host = createServices({ executor: quickjs(), policy: [rule('*', 'allow')] })
await host.ready()
await host.toolkits.register({ name: 'shop', tools, deferLoading: false }, { tier: 'app' })
const { name: tokenizer, count } = await tokenizerOf('openai')
const cost = (value: unknown) => count(JSON.stringify(value))

const plain = await host.thread(thread).select({ prompt: 'the five largest open orders', limit: 5 })
const answers: unknown[] = []
/** As a model would: every call and every answer is in its context. */
async function call(name: string, args: object): Promise<Record<string, unknown>> {
  const outcome = await plain.call({ name: `mcp_shop_${name}`, arguments: { ...args } })
  if (!('content' in outcome)) throw outcome.error
  answers.push({ type: 'tool_use', name, input: args }, { type: 'tool_result', content: outcome.content })
  return outcome.structuredContent as Record<string, unknown>
}
const { ids } = (await call('list_orders', {})) as { ids: string[] }
const orders = []
for (const id of ids) orders.push(await call('get_order', { id }))
const open = orders.filter(({ status }) => status === 'open').sort((a, b) => Number(b.total) - Number(a.total))
const five = []
for (const { id, total, customer } of open.slice(0, 5))
  five.push({ id, total, name: (await call('get_customer', { id: customer })).name })

const offered = await host.thread(thread).select({ prompt: 'the five largest open orders', limit: 5, programs: 'only' })
const outcome = await offered.call({ name: 'run_code', arguments: { program: PROGRAM } })
if (!('content' in outcome) || outcome.status !== 'ok') throw new Error(JSON.stringify(outcome))
const report = JSON.parse((outcome.content[0] as { text: string }).text)
if (JSON.stringify(report) !== JSON.stringify(five)) throw new Error('The program found something else.')

const direct = { definitions: plain.tokens.after, rest: cost(answers) }
const program = {
  definitions: offered.tokens.after,
  rest: cost([
    { type: 'tool_use', name: 'run_code', input: { program: PROGRAM } },
    { type: 'tool_result', content: outcome.content },
  ]),
}
const sum = ({ definitions, rest }: typeof direct) => definitions + rest
const saved = 1 - sum(program) / sum(direct)
const row = (what: string, one: typeof direct) => [
  what,
  ...[one.definitions, one.rest, sum(one)].map((n) => n.toLocaleString('en')),
]
const table = markdown([
  ['', 'definitions and declarations', 'calls, program and results', 'in all'],
  row(`${answers.length / 2} calls`, direct),
  row('one program', program),
])
const section = `## Programs

\`npm run bench:programs\`: the five largest of the open ones among ${RECORDS} orders of 1 KB, by three tools, each result counted once (${tokenizer})

${table}

The context holds ${(100 * saved).toFixed(1)} % less; Anthropic publishes 37 % less on its own work. Both ways give the same five rows.`
console.log(section)
if (process.argv.includes('--write')) writeSection('programs', section)
