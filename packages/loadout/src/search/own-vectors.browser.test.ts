import { expect, it } from 'vitest'
import { search } from './plain-tools.ts'

it('meaning is there in a browser too, without a word of the app', async () => {
  const tools = [
    { name: 'send', description: 'Sends a letter.' },
    { name: 'sum', description: 'Adds numbers.' },
  ]
  const { hits, strategy, warnings } = await search({ query: 'correspondence', tools, limit: 1 })
  expect([strategy, warnings, hits[0]?.tool.name]).toEqual(['hybrid', undefined, 'send'])
})
