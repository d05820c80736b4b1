import { describe, expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import { NOTHING, overrideDraft, overridesWith, presentedTool } from './tool-override.ts'

const tool = {
  name: 'send',
  title: 'Send',
  description: 'Sends.',
  annotations: { readOnlyHint: true, openWorldHint: true },
} as unknown as Toolkit['tools'][number]
const presentWith = (override: object) =>
  presentedTool({ options: { overrides: { send: override } } } as unknown as Pick<Toolkit, 'options'>, tool)

describe('a tool with an override', () => {
  it('is shown with its effective values and marks those that are not the server’s', () => {
    expect(presentWith({ title: 'Mail', annotations: { readOnlyHint: false, destructiveHint: true } })).toMatchObject({
      tool: { title: 'Mail', description: 'Sends.', annotations: { readOnlyHint: false, destructiveHint: true } },
      changed: ['title', 'claims'],
    })
  })

  it('is unchanged if the override has no effect', () => {
    // An override that is less strict than the server, or equal, has no effect.
    expect(presentWith({ annotations: { destructiveHint: false, openWorldHint: true }, enabled: false })).toEqual({
      tool,
      changed: [],
    })
    expect(presentedTool({ options: { overrides: {} } } as unknown as Pick<Toolkit, 'options'>, tool).tool).toBe(tool)
  })
})

describe('the override request', () => {
  const before = {
    send: { name: 'mail', title: 'Old', annotations: { title: 'T', readOnlyHint: false } },
    other: { title: 'O' },
  }
  it('changes only this tool and its edited fields', () => {
    const draft = { ...overrideDraft(before.send), title: ' New ', description: 'D' }
    expect([...draft.careful]).toEqual(['readOnlyHint'])
    expect(overridesWith(before, 'send', draft)).toEqual({
      send: { name: 'mail', title: 'New', description: 'D', annotations: { title: 'T', readOnlyHint: false } },
      other: { title: 'O' },
    })
  })

  it('restores the values of the server and keeps the rest', () => {
    expect(overridesWith(before, 'send', NOTHING)).toEqual({
      send: { name: 'mail', annotations: { title: 'T' } },
      other: { title: 'O' },
    })
    expect(overridesWith(before, 'other', NOTHING)).toEqual({ send: before.send })
  })
})
