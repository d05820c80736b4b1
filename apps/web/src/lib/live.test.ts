import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { COLLECTION_TOPICS, EVENT_TOPICS } from './live.ts'

const source = (path: string) => readFile(new URL(`../../../../packages/loadout/src/${path}`, import.meta.url), 'utf8')

// A page with an unknown event name would never update.
it('the live updates listen only to existing collections', async () => {
  const collections = await source('storage/collections.ts')
  const names = new Set([...collections.matchAll(/^ {2}(\w+): spec\(/gm)].map(([, name]) => name))
  expect(names.size).toBeGreaterThan(20)
  expect(Object.keys(COLLECTION_TOPICS).filter((name) => !names.has(name))).toEqual([])
})

it('the live updates listen only to existing events', async () => {
  const names = new Set([...(await source('events.ts')).matchAll(/type: '([a-z-]+)'/g)].map(([, name]) => name))
  expect(names.size).toBeGreaterThan(20)
  expect(Object.keys(EVENT_TOPICS).filter((name) => !names.has(name))).toEqual([])
})
