/** In a file of its own: counting steps slows down all that runs beside it. */
import { expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { createSearcher } from '../searcher.ts'

const work = newWork()
const VERBS = ['list', 'read', 'create', 'delete', 'update', 'send', 'search', 'count', 'share', 'archive']
const NOUNS = ['issue', 'file', 'letter', 'invoice', 'calendar', 'repository', 'customer', 'photo', 'ticket', 'page']

it('indexing 10,000 tools does not block the event loop', async () => {
  const entries = Array.from({ length: 10_000 }, (_, n) => entryOf(`kit${n % 100}`, n))
  const searcher = createSearcher()
  // In one piece it would be millions.
  await work.perTurn({ steps: 2_000_000, ms: 500 }, () => searcher.search(entries, 'send a letter'))
  expect((await searcher.size()).tools).toBe(10_000)
})

function entryOf(id: string, index: number): LoadoutEntry {
  const [verb, noun] = [VERBS[index % 10], NOUNS[Math.floor(index / 10) % 10]]
  const tool = `${verb}_${noun}_${index}`
  const description = `Can ${verb} every ${noun} of ${id}, one after another, and says what came of it (${index}).`
  const properties = { [`${noun}_id`]: { type: 'string', description: `Which ${noun} to ${verb}` } }
  const manifest = { name: tool, description, inputSchema: { type: 'object' as const, properties } }
  const entry = {
    deferred: true,
    allowedCallers: ['direct' as const],
    tokens: 50,
    included: true,
    reasons: [],
    manifest,
  }
  const names = { ref: `${id}.${tool}`, modelName: `mcp_${id}_${tool}`, toolkit: id, uscoId: `usco_${id}`, tool }
  return { tier: 'app', ...names, ...entry }
}
