import { expect, it } from 'vitest'
import { search } from '../tool-list-search.ts'

it('semantic search works in a browser without app setup', async () => {
  const tools = [
    { name: 'send', description: 'Sends a letter.' },
    { name: 'sum', description: 'Adds numbers.' },
  ]
  const { hits, strategy, warnings } = await search({ query: 'correspondence', tools, limit: 1 })
  expect([strategy, warnings, hits[0]?.tool.name]).toEqual(['hybrid', undefined, 'send'])
})
