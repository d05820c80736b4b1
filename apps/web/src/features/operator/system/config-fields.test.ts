import { expect, it } from 'vitest'
import { configDraft, patchOf } from './config-fields.ts'

const config = {
  discovery: { enabled: false, autoDiscover: false },
  defaults: { deferLoading: true, deferAboveTokens: 10_000, enableProgrammaticCalling: true },
  trust: { untrusted: ['a*'], userToolkits: true },
  limits: { argumentBytes: 10, resultBytes: 20, maxCallsPerHour: 5 },
  audit: {},
  customToolkits: { hosts: [] },
}

it('the config form sends only changed fields, with null for a removed limit', () => {
  const before = configDraft(config)
  expect(patchOf(before, before)).toEqual({})
  const draft = {
    ...before,
    limits: { ...before.limits, maxCallsPerHour: '', callMs: '1000' },
    trust: { ...before.trust, untrusted: 'a*\n\n b ' },
    audit: { retentionDays: 'many' },
    defaults: { ...before.defaults, deferLoading: false },
  }
  expect(patchOf(draft, before)).toEqual({
    limits: { maxCallsPerHour: null, callMs: 1000 },
    trust: { untrusted: ['a*', 'b'] },
    audit: { retentionDays: 'many' },
    defaults: { deferLoading: false },
  })
})
