import { expect, it } from 'vitest'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { createServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { defineTool } from '../../src/toolkits/define-tool.ts'

const never = defineTool({ name: 'never', execute: () => new Promise<never>(() => {}) })
const PROGRAM = 'return await app.never()'

const endOf = async (timeoutMs: number, wallMs?: number) => {
  await using host = createServices({
    executor: quickjs({ timeoutMs }),
    tools: [never],
    policy: [rule('*', 'allow')],
    programs: { limits: wallMs === undefined ? {} : { wallMs } },
  })
  const { status, error } = await host.thread({ userId: 'ann', threadId: 't' }).run(PROGRAM)
  return `${status}: ${error?.message}`
}

it('a program stops at the executor timeout unless the host sets another limit', async () => {
  expect(await endOf(300)).toMatch(/failed.*300 ms/)
  expect(await endOf(60_000, 400)).toMatch(/failed.*400 ms/)
})
