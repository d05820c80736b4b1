import { afterEach, beforeEach, expect, it } from 'vitest'
import { kit, openWorkflowHost, type WorkflowHost } from '../../test/fixtures/workflow-host.ts'

let world: WorkflowHost

beforeEach(async () => {
  world = await openWorkflowHost()
})
afterEach(() => world.host.close())

const definition = {
  name: 'shown',
  input: { type: 'object', properties: { pin: { type: 'string', writeOnly: true }, n: { type: 'number' } } },
  nodes: [
    { id: 'two', type: 'code', program: 'console.log("said"); return { n: 2 * input.n }', input: '{{ input }}' },
    { id: 'long', type: 'code', program: 'return "x".repeat(40_000)' },
  ],
}

it('a run view shows redacted input and bounded step output', async () => {
  const { id, version } = await world.host.workflows.create('ann', definition)
  const run = await world.host.workflows.run('ann', { workflowId: id, input: { pin: '4711', n: 3 } })
  expect(run.workflow).toEqual({ name: 'shown', id, version })
  expect(run.input).toEqual({ pin: expect.not.stringContaining('4711'), n: 3 })
  expect(run.definition?.nodes.map((node) => node.id)).toEqual(['two', 'long'])
  const codeSteps = run.steps.filter((step) => step.kind === 'code')
  expect(codeSteps.find((step) => (step.request as { node: string }).node === 'two')).toMatchObject({
    place: 'two',
    output: { n: 6 },
  })
  const long = codeSteps.find((step) => (step.request as { node: string }).node === 'long')
  expect([long?.cut, String(long?.output).length]).toEqual([true, 16_000])
})

it('a run list shows all versions of a workflow, newest first, without long fields', async () => {
  const { workflows, runs } = world.host
  const { id: workflowId } = await workflows.create('ann', definition)
  const first = await workflows.run('ann', { workflowId, input: { n: 1 } })
  await world.run([kit('a', 'read')])
  await workflows.update('ann', workflowId, { ...definition, description: 'changed' })
  const second = await workflows.run('ann', { workflowId, input: { n: 2 } })
  const listed = await runs.list('ann', { workflowId })
  expect(listed.map((run) => [run.id, run.workflow?.version])).toEqual([
    [second.id, 2],
    [first.id, 1],
  ])
  expect(listed[0]).not.toHaveProperty('definition')
  expect((await runs.list('ann', { workflowId, limit: 1, cursor: second.id })).map((run) => run.id)).toEqual([first.id])
  expect(await runs.list('bob', { workflowId })).toEqual([])
  expect(await runs.list('ann')).toHaveLength(3)
})
