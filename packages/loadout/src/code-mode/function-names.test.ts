import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeNames, inCode, PROGRAM_GLOBALS } from './function-names.ts'

const entries = (refs: readonly string[]) =>
  refs.map((ref) => ({ ref, toolkit: ref.split('.', 1)[0] as string, tool: ref.slice(ref.indexOf('.') + 1) }))
const named = (refs: readonly string[], reserved: string[] = []) =>
  Object.fromEntries([...codeNames(entries(refs), { reserved })].map(([ref, name]) => [ref, inCode(name)]))

describe('tool names in programs', () => {
  it('replace - with _ in the toolkit and keep the tool name', () => {
    expect(named(['github.list_issues', 'my-files.read', '3d.draw', 'x.get-sum', 'x.größe', 'x.a.b', 'x.a"b'])).toEqual(
      {
        'github.list_issues': 'github.list_issues',
        'my-files.read': 'my_files.read',
        '3d.draw': '_3d.draw',
        'x.get-sum': 'x["get-sum"]',
        'x.größe': 'x["größe"]',
        'x.a.b': 'x["a.b"]',
        'x.a"b': 'x["a\\"b"]',
      },
    )
  })

  it('do not shadow language words, sandbox words or reserved names', () => {
    for (const id of [...PROGRAM_GLOBALS, 'new', 'default', 'await', 'eval', 'undefined'])
      expect(named([`${id}.x`])).toEqual({ [`${id}.x`]: `${id}_.x` })
    expect(named(['fetch.fetch'])).toEqual({ 'fetch.fetch': 'fetch.fetch' })
    expect(named(['fetch.fetch'], ['fetch'])).toEqual({ 'fetch.fetch': 'fetch_.fetch' })
  })

  it('do not collide with object members such as then and constructor', () => {
    expect(named(['x.then', 'x.__proto__', 'x.constructor', 'x.delete'])).toEqual({
      'x.then': 'x.then_',
      'x.__proto__': 'x.__proto___',
      'x.constructor': 'x.constructor_',
      'x.delete': 'x.delete',
    })
  })

  it('keep valid names unchanged in any order', () => {
    const refs = ['a-b.x', 'a_b.x', 'search.x', 'search_.x', 'y.then', 'y.then_']
    const expected = {
      'a-b.x': 'a_b_2.x',
      'a_b.x': 'a_b.x',
      'search.x': 'search__2.x',
      'search_.x': 'search_.x',
      'y.then': 'y.then__2',
      'y.then_': 'y.then_',
    }
    expect(named(refs)).toEqual(expected)
    expect(named(refs.toReversed())).toEqual(expected)
  })

  it('have an alias if they need quotes, unless the alias is ambiguous', () => {
    const aliases = (refs: string[]) => [...codeNames(entries(refs)).values()].map((name) => name.aliases)
    expect(aliases(['x.get-sum', 'x.read'])).toEqual([['get_sum'], []])
    expect(aliases(['x.get-sum', 'x.get_sum'])).toEqual([[], []])
    expect(aliases(['x.get-sum', 'x.get.sum'])).toEqual([[], []])
    expect(aliases(['x.2d', 'x.proto', 'x.to/JSON'])).toEqual([['_2d'], [], ['to_JSON']])
  })

  it('are unique and do not depend on the order', () => {
    const toolkit = fc.constantFrom('a-b', 'a_b', 'a--b', 'search', 'search_', 'new', '1', '_1', 'console', 'x')
    const tool = fc.oneof(
      fc.constantFrom('get-sum', 'get.sum', 'get_sum', 'get sum', 'then', 'then_', '__proto__', '1', '_1', '-1'),
      fc.string({ minLength: 1, maxLength: 4, unit: 'binary' }),
    )
    const refs = fc.uniqueArray(fc.tuple(toolkit, tool), { selector: ([a, b]) => `${a}.${b}`, maxLength: 25 })
    fc.assert(
      fc.property(refs, (pairs) => {
        const all = pairs.map(([a, b]) => ({ ref: `${a}.${b}`, toolkit: a, tool: b }))
        const names = codeNames(all)
        const spelled = [...names.values()].flatMap(({ object, name, aliases }) =>
          [name, ...aliases].map((one) => JSON.stringify([object, one])),
        )
        expect(new Set(spelled).size).toBe(spelled.length)
        const objects = new Map(all.map(({ ref, toolkit }) => [toolkit, names.get(ref)?.object]))
        expect(new Set(objects.values()).size).toBe(objects.size)
        for (const object of objects.values()) expect(new Function(`const ${object} = 1; return ${object}`)()).toBe(1)
        const again = codeNames(all.toReversed())
        for (const { ref } of all) expect(again.get(ref)).toEqual(names.get(ref))
      }),
      { numRuns: 500 },
    )
  })
})
