import { describe, expect, it } from 'vitest'
import { emptyDraft, newSecret } from './draft.ts'
import { errorsByField, isPlaced, mapErrors, rowErrors, validateDraft } from './field-errors.ts'

const row = (key: number, name: string, text = 'x') => ({ key, name, value: { ...newSecret(), text } })
const draft = { ...emptyDraft('stdio'), env: [row(4, 'TOKEN'), row(7, 'A.B')] }

describe('mapErrors', () => {
  it('places each error at the field it names, as a sentence', () => {
    const errors = [
      { path: 'id', message: 'cannot be made from this name' },
      { path: 'name', message: 'must not be empty' },
      { path: 'name', message: 'must not hold control characters' },
      { path: 'server.command', message: 'must not be empty' },
      { path: 'server.args.2', message: 'must not hold a NUL character' },
      { path: 'server.env.TOKEN', message: 'names no stored secret; send the secret itself' },
      { path: 'env.A.B', message: 'Too big: expected string to have <=8192 characters' },
      { path: 'server.env', message: 'has a name that no environment takes' },
      { path: 'server.auth.token', message: 'must not be empty' },
    ]
    expect(mapErrors(errors, draft)).toEqual({
      name: 'Name must not be empty.',
      command: 'Command must not be empty.',
      args: 'Line 3 must not hold a NUL character.',
      'env#4': 'TOKEN names no stored secret; send the secret itself.',
      'env#7': 'Too big: expected string to have <=8192 characters.',
      env: 'Environment has a name that no environment takes.',
      token: 'Token must not be empty.',
    })
    expect(isPlaced(errors)).toBe(true)
  })

  it('ignores errors that name no field of the form', () => {
    const errors = [{ path: 'overrides.x', message: 'is not a known field' }]
    expect(mapErrors(errors, draft)).toEqual({})
    expect(isPlaced(errors)).toBe(false)
    expect(isPlaced(undefined)).toBe(false)
  })
})

describe('validateDraft', () => {
  it('finds rows without a name and duplicate names', () => {
    const env = [row(0, 'A'), row(1, ''), row(2, ' A '), row(3, '', '')]
    expect(validateDraft({ ...draft, env }, [])).toEqual({ 'env#1': 'Give it a name.', 'env#2': 'A is there twice.' })
    expect(validateDraft({ ...draft, env, type: 'http' }, [])).toEqual({})
  })
})

describe('errorsByField', () => {
  it('collects the errors of rows in their field and places options below `options`', () => {
    const fields = errorsByField({ env: 'a', 'env#1': 'b', name: 'c', callMs: 'd' })
    expect(fields).toEqual({ env: { env: 'a', 'env#1': 'b' }, name: 'c', 'options.callMs': 'd' })
    expect(rowErrors([fields.env])).toEqual({ env: 'a', 'env#1': 'b' })
    expect(rowErrors([])).toEqual({})
  })
})
