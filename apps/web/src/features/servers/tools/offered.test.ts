import { expect, it } from 'vitest'
import { blocksOf, promptArguments, templateArguments } from './offered.ts'

it('finds the arguments of a URI template once each, without operators and marks', () => {
  const names = (template: string) => templateArguments(template).map(({ name }) => name)
  expect(names('city://{city}/{street}')).toEqual(['city', 'street'])
  expect(names('repo://{owner}/{repo}{/path*}{?ref,page:3}{#ref}')).toEqual(['owner', 'repo', 'path', 'ref', 'page'])
  expect(names('docs://readme')).toEqual([])
  expect(names('odd://{}/{ }')).toEqual([])
})

it('reads the arguments of a prompt and skips what is none', () => {
  expect(promptArguments([{ name: 'city', required: true }, { name: 'tone', description: 'How' }, null, {}])).toEqual([
    { name: 'city', description: '', required: true },
    { name: 'tone', description: 'How', required: false },
  ])
  expect(promptArguments('none')).toEqual([])
})

it('shows the contents of a resource and the messages of a prompt as blocks', () => {
  expect(blocksOf({ contents: [{ uri: 'a://b', text: 'c' }] })).toEqual([
    { type: 'resource', resource: { uri: 'a://b', text: 'c' } },
  ])
  expect(blocksOf({ messages: [{ role: 'user', content: { type: 'text', text: 'd' } }] })).toEqual([
    { type: 'text', text: 'd' },
  ])
  expect(blocksOf({})).toEqual([])
})
