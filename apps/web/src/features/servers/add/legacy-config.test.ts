import { describe, expect, it } from 'vitest'
import { dismissLegacyConfig, findLegacyConfig, LEGACY_KEY, removeLegacyConfig } from './legacy-config.tsx'

const storageWith = (value?: unknown) => {
  const items = new Map<string, string>(
    value === undefined ? [] : [[LEGACY_KEY, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
    removeItem: (key: string) => void items.delete(key),
  }
}
const files = { command: 'npx', args: ['files'] }

describe('a config from an older setup', () => {
  it('is found in each of its shapes', () => {
    const shapes = [
      { files },
      { mcpServers: { files } },
      { state: { servers: { files } }, version: 0 },
      [{ name: 'files', ...files }],
      { state: { configs: [{ id: 'files', ...files }] } },
    ]
    for (const shape of shapes) {
      const found = findLegacyConfig(storageWith(shape))
      expect(found?.count, JSON.stringify(shape)).toBe(1)
      expect(JSON.parse(found?.text ?? '')).toMatchObject({ mcpServers: { files } })
    }
  })

  it('is not detected in other data', () => {
    for (const other of [undefined, 'no json', '[]', {}, { theme: 'dark' }, { files: 'x' }, 'null'])
      expect(findLegacyConfig(storageWith(other))).toBeUndefined()
  })

  it('is offered once and deleted when it is removed', () => {
    const left = storageWith({ files })
    dismissLegacyConfig(left)
    expect(findLegacyConfig(left)).toBeUndefined()
    expect(left.getItem(LEGACY_KEY)).not.toBeNull()
    const removed = storageWith({ files })
    removeLegacyConfig(removed)
    expect(removed.getItem(LEGACY_KEY)).toBeNull()
  })
})
