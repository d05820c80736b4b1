/** Definitions: what is right is planned, and of what is wrong everything is told at once, with its place. */
import { describe, expect, it } from 'vitest'
import { isTiming, newWork } from '../../../../../test/prove/work.ts'
import { defineWorkflow } from '../define-workflow.ts'
import { downstreamOf, findCycles } from './plan.ts'
import { planOf, readDefinition } from './read-definition.ts'

const work = newWork()

const tool = (id: string, more: object = {}) => ({ id, type: 'tool', ref: 'kit.read', ...more })
const problemsOf = (definition: unknown) =>
  readDefinition(definition).problems.map(({ path, message }) => `${path}: ${message}`)
const withNodes = (...nodes: unknown[]) => problemsOf({ name: 'w', nodes })

describe('a valid workflow', () => {
  const definition = defineWorkflow({
    name: 'report',
    input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    nodes: [
      { id: 'fetch', type: 'tool', ref: 'web.get', arguments: { url: 'https://x/{{ input.city }}' } },
      { id: 'big', type: 'branch', when: 'size(nodes.fetch.output.items) > 2', onTrue: ['each'], onFalse: ['small'] },
      { id: 'each', type: 'map', over: 'nodes.fetch.output.items', node: 'one', as: 'entry', concurrency: 2 },
      {
        id: 'one',
        type: 'tool',
        ref: 'web.get',
        arguments: { id: '{{ entry.id }}', n: '{{ index }}', of: '{{ nodes.setup.output }}' },
      },
      { id: 'small', type: 'code', program: 'return 1' },
      { id: 'setup', type: 'tool', ref: 'web.get', onError: { node: 'other' } },
      { id: 'other', type: 'tool', ref: 'web.get', arguments: { why: '{{ error.message }}' } },
      { id: 'ask', type: 'approval', message: 'Send {{ nodes.each.output }}?', after: ['small'] },
    ],
    output: { all: '{{ nodes.each.output }}', ok: '{{ nodes.ask.status }}' },
  })

  it('is planned with its dependencies, branches and held nodes', () => {
    const plan = planOf(definition)
    const of = (id: string) => plan.nodes.get(id)
    expect([...(of('big')?.needs ?? [])]).toEqual(['fetch'])
    expect([...(of('each')?.needs ?? [])].sort()).toEqual(['fetch', 'setup'])
    expect([...(of('ask')?.needs ?? [])].sort()).toEqual(['each', 'small'])
    expect(of('each')?.chosenBy).toEqual([{ branch: 'big', on: true }])
    expect([of('one')?.parentId, of('other')?.parentId, of('fetch')?.parentId]).toEqual(['each', 'setup', undefined])
    expect(plan.last).toEqual(['ask'])
    expect([...downstreamOf(plan, 'big')].sort()).toEqual(['ask', 'big', 'each', 'small'])
  })

  it('has the same definition after a JSON round trip', () => {
    expect(planOf(JSON.parse(JSON.stringify(definition))).definition).toEqual(planOf(definition).definition)
  })
})

describe('the problems of an invalid workflow', () => {
  it('are all reported with their paths', () => {
    const problems = problemsOf({
      name: '',
      input: { type: 'array', properties: { a: { type: 'nothing' } } },
      nodes: [
        tool('a', {
          after: ['c', 'ghost'],
          arguments: { x: '{{ input.b }}', y: '{{ 1 + }}', z: ['{{ nodes.nobody.output }}'] },
        }),
        tool('b', { after: ['a'] }),
        tool('c', { after: ['b'] }),
        tool('d', { after: ['c'] }),
        tool('d'),
        { id: 'e', type: 'dance' },
        { id: 'f', type: 'map', over: 'input.a', node: 'f' },
        { id: 'g', type: 'branch', when: 'true', onTrue: ['b', 'nowhere'], onFalse: ['b', 'h'] },
        tool('h'),
        tool('1x'),
        { id: 'k', type: 'tool', ref: 'noref', colour: 'red' },
      ],
      output: '{{ nodes.z.output }} {{ other }}',
    })
    expect(problems.sort()).toEqual(
      [
        'name: must not be empty',
        'input.properties.a.type: must be one of null, boolean, number, integer, string, array, object, or some of these',
        'input: must be a JSON Schema with "type": "object"',
        "nodes.0.after.1: in node 'a': there is no node 'ghost'",
        'nodes.0.after: is in a cycle: a waits for c waits for b waits for a',
        "nodes.0.arguments.y: in node 'a': cannot be read: Unexpected token: its end (character 7:  }})",
        "nodes.0.arguments.x: in node 'a': there is no input 'b'; there are: a",
        "nodes.0.arguments.z.0: in node 'a': there is no node 'nobody'",
        "nodes.3: 'd' can never begin: it waits for nodes that are in a cycle",
        "nodes.4.id: 'd' is the id of nodes.3 too",
        'nodes.5.type: must be one of tool, agent, code, branch, map, approval, and is "dance"',
        "nodes.6.node: in node 'f': it runs itself",
        "nodes.7.onFalse.0: in node 'g': 'b' is on both sides",
        "nodes.7.onTrue.1: in node 'g': there is no node 'nowhere'",
        "nodes.8: 'h' is never run: the condition of 'g' is always true",
        'nodes.9.id: must be a letter, then up to 63 letters, digits, "_" or "-"',
        'nodes.10.colour: is not a known field',
        'nodes.10.ref: must be "toolkit.tool", for example "filesystem.read_file"',
        "output: there is no node 'z'",
        "output: there is no 'other'; there are: input, nodes, run",
      ].sort(),
    )
  })

  it.each([
    ['nothing at all', undefined, 'Invalid input'],
    ['no nodes', { name: 'w', nodes: [] }, 'nodes'],
    ['nodes that are no list', { name: 'w', nodes: 'x' }, 'nodes'],
    ['a node that is no object', { name: 'w', nodes: [null] }, 'nodes.0.type: must be one of'],
  ])('%s', (_, definition, message) => {
    expect(problemsOf(definition).join()).toContain(message)
  })

  it.each([
    ['itself', [tool('a', { arguments: { x: '{{ nodes.a.output }}' } })], 'it names its own output'],
    [
      'a node that is looked up',
      [tool('a'), tool('b', { arguments: { x: '{{ nodes[input.n].output }}' } })],
      'must be named where it is written',
    ],
    ['a field of no node', [tool('a'), tool('b', { arguments: { x: '{{ nodes.a.text }}' } })], 'nodes.a.output.text'],
    [
      'what a map runs',
      [
        { id: 'm', type: 'map', over: 'input.x', node: 'a' },
        tool('a'),
        tool('b', { arguments: { x: '{{ nodes.a.output }}' } }),
      ],
      'use nodes.m',
    ],
    ['the item of no map', [tool('a', { arguments: { x: '{{ item }}' } })], "there is no 'item'"],
    ['an error where there is none', [tool('a', { arguments: { x: '{{ error.code }}' } })], "there is no 'error'"],
  ])('rejects an expression that names %s', (_, nodes, message) => {
    expect(withNodes(...nodes).join()).toContain(message)
  })

  it.each([
    [
      'a map of a branch',
      [
        { id: 'm', type: 'map', over: 'input.x', node: 'b' },
        { id: 'b', type: 'branch', when: 'input.y', onTrue: ['a'] },
        tool('a'),
      ],
      'is a branch',
    ],
    [
      'two that run one',
      [
        { id: 'm', type: 'map', over: 'input.x', node: 'a' },
        { id: 'n', type: 'map', over: 'input.x', node: 'a' },
        tool('a'),
      ],
      "is run by 'm' already",
    ],
    [
      'a ring of maps',
      [
        { id: 'm', type: 'map', over: 'input.x', node: 'n' },
        { id: 'n', type: 'map', over: 'input.x', node: 'm' },
      ],
      'it runs itself',
    ],
    [
      'a held node that waits',
      [{ id: 'm', type: 'map', over: 'input.x', node: 'a' }, tool('a', { after: ['c'] }), tool('c')],
      'waits for nobody',
    ],
    [
      'a fallback that is chosen',
      [tool('x', { onError: { node: 'a' } }), { id: 'b', type: 'branch', when: 'input.y', onTrue: ['a'] }, tool('a')],
      "'a' is run by 'x'",
    ],
    ['a branch that leads nowhere', [{ id: 'b', type: 'branch', when: 'input.y' }], 'it leads nowhere'],
    ...['input', 'nodes', 'run', 'index', 'error'].map((as): [string, object[], string] => [
      `an item that is called ${as}`,
      [{ id: 'm', type: 'map', over: 'input.x', node: 'a', as }, tool('a')],
      `'${as}' is a name of its own`,
    ]),
    [
      'a map over a number',
      [{ id: 'm', type: 'map', over: '5', node: 'a' }, tool('a')],
      "nodes.0.over: in node 'm': must be a list, and is always a number",
    ],
    [
      'a condition that is a text',
      [{ id: 'b', type: 'branch', when: '"yes"', onTrue: ['a'] }, tool('a')],
      "nodes.0.when: in node 'b': must be true or false, and is always a text",
    ],
    [
      'one side that waits for the other',
      [
        { id: 'b', type: 'branch', when: 'input.x', onTrue: ['y'], onFalse: ['n'] },
        tool('y'),
        tool('n', { after: ['y'] }),
      ],
      "nodes.2: 'n' is never run: it waits for 'y', which is on the other side of 'b'",
    ],
    [
      'a map with a time of its own',
      [{ id: 'm', type: 'map', over: 'input.x', node: 'a', timeoutMs: 500 }, tool('a')],
      "nodes.0.timeoutMs: in node 'm': a map has none; give it to the node 'a'",
    ],
    [
      'a question that is asked again',
      [{ id: 'q', type: 'approval', message: 'Well?', retry: { attempts: 2 } }],
      'nodes.0.retry',
    ],
    ['waiting for oneself', [tool('a', { after: ['a'] })], 'a waits for a'],
  ])('%s', (_, nodes, message) => {
    expect(withNodes(...nodes).join()).toContain(message)
  })

  it('exclude inputs that the schema leaves open', () => {
    const nodes = [tool('a', { arguments: { x: '{{ input.anything.at.all }}' } })]
    expect(problemsOf({ name: 'w', nodes })).toEqual([])
    const properties = { known: { type: 'object', properties: { a: {} } } }
    expect(problemsOf({ name: 'w', nodes, input: { type: 'object', properties, additionalProperties: true } })).toEqual(
      [],
    )
    const deep = [tool('a', { arguments: { x: '{{ input.known.b }}' } })]
    expect(problemsOf({ name: 'w', nodes: deep, input: { type: 'object', properties } }).join()).toContain(
      "no input 'known.b'",
    )
  })

  it('are reported in bounded steps and at bounded length', () => {
    const all = Array.from({ length: isTiming ? 500 : 250 }, (_, n) => `n${n}`)
    const names = all.map((id) => `{{ nodes.${id}x.output }}`).join('')
    const definitions = {
      ring: all.map((id) => tool(id, { after: all.filter((other) => other !== id) })),
      almost: all.map((id, n) => tool(id, { after: n === 0 ? all.slice(-1) : all.slice(0, n) })),
      ghosts: all.map((id) => tool(id, { after: all.map((other) => `${other}x`) })),
      ids: all.map((id) => tool(id, { after: all.map((other) => `1${other}`) })),
      names: all.slice(0, isTiming ? 300 : 150).map((id) => tool(id, { arguments: { x: names } })),
      choices: all.map((id) => ({ id, type: 'branch', when: 'input.x', onTrue: all, onFalse: all })),
      slow: all.map((id) => ({
        id,
        type: 'branch',
        when: `${'[1,2,3,4].all(a, '.repeat(9)}true${')'.repeat(9)}`,
        onTrue: [id],
      })),
    }
    for (const [name, nodes] of Object.entries(definitions)) {
      const { problems } = work.within({ steps: 10_000_000, ms: 2000 }, () => readDefinition({ name, nodes }))
      expect([name, problems.length], name).toEqual([name, Math.min(problems.length, 201)])
      expect(problems.length, name).toBeGreaterThan(15)
      expect(JSON.stringify(problems).length, name).toBeLessThan(100_000)
    }
  })

  it('show the shortest of many cycles and shorten a long cycle', () => {
    const knot = [tool('a', { after: ['b'] }), tool('b', { after: ['c', 'a'] }), tool('c', { after: ['a'] })]
    expect(withNodes(...knot)).toEqual([
      'nodes.0.after: is in a cycle: a waits for b waits for a',
      'nodes.2.after: is in a cycle: c waits for a waits for b waits for c',
    ])
    const long = Array.from({ length: 60 }, (_, n) => tool(`n${n}`, { after: [`n${(n + 1) % 60}`] }))
    expect(withNodes(...long)).toEqual([expect.stringMatching(/n0 waits for .* n8 waits for 51 more waits for n0$/)])
  })

  it('include one cycle for a large ring and none for a long chain', () => {
    const edges = new Map(Array.from({ length: 500 }, (_, n) => [`n${n}`, new Set([`n${(n + 1) % 500}`])]))
    expect(findCycles(edges).cycles).toHaveLength(1)
    const chain = Array.from({ length: 500 }, (_, n) => tool(`n${n}`, n === 0 ? {} : { after: [`n${n - 1}`] }))
    expect(withNodes(...chain)).toEqual([])
  })
})
