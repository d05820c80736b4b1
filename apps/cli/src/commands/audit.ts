import { defineCommand } from 'citty'
import { assertOk, connect } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print, table } from '../print.ts'

const FORMATS = ['table', 'csv', 'jsonl'] as const

export const audit = defineCommand({
  meta: { name: 'audit', description: 'Show what happened, the newest first' },
  args: {
    format: { type: 'enum', options: [...FORMATS], description: 'A table, or all of it as a file', default: 'table' },
    toolkit: { type: 'string', description: 'Only of this toolkit', valueHint: 'id' },
    action: { type: 'string', description: 'Only this kind, for example mcp_tool_call' },
    limit: { type: 'string', description: 'How many lines of the table', default: '50' },
    ...COMMON,
  },
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const { toolkit, action, limit } = args
      const format = FORMATS.find((value) => value === args.format) ?? 'table'
      const filter = { ...(toolkit ? { toolkit } : {}), ...(action ? { action } : {}) }
      const query = { ...filter, ...(format === 'table' ? { limit } : { format }) }
      const answer = await connection.client.api.audit.$get({ query })
      await assertOk(answer)
      if (format !== 'table') {
        const text = (await answer.text()).trimEnd()
        return { data: text, text }
      }
      const data = (await answer.json()) as { items: AuditRow[] }
      return { data, text: table([HEAD, ...data.items.map(rowOf)]) }
    }),
})

interface AuditRow {
  at: string
  action: string
  ref: string | null
  source: string
  outcome: string | null
}

const HEAD = ['WHEN', 'WHAT', 'OF', 'OUTCOME']
const rowOf = ({ at, action, ref, source, outcome }: AuditRow) => [at, action, ref ?? source, outcome ?? '']
