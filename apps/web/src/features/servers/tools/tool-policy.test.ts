import { describe, expect, it } from 'vitest'
import type { Grant, Rule } from '../queries.ts'
import { choiceOf, choicesFor, patternOf, rulesWith } from './tool-policy.ts'

const rule = (pattern: string, decision: Rule['decision'], when: Rule['when'] = {}): Rule => ({
  pattern,
  decision,
  when,
  allowEdits: false,
  allowRemember: true,
})
const grant = (ref: string, more: Partial<Grant> = {}): Grant => ({
  id: `g-${ref}`,
  ref,
  target: 'tool',
  decision: 'allow',
  createdAt: '2026-01-01T00:00:00Z',
  ...more,
})

describe('the own policy for one tool', () => {
  it('is the rule for the tool, else the grant, else inherited', () => {
    expect(choiceOf('a.b', [], [])).toBe('inherit')
    expect(choiceOf('a.b', [rule('a.*', 'deny'), rule('a.b', 'ask', { caller: 'code' })], [])).toBe('inherit')
    expect(choiceOf('a.b', [rule('a.b', 'deny')], [grant('a.b')])).toBe('deny')
    expect(choiceOf('a.b', [], [grant('a.b')])).toBe('allow')
    expect(choiceOf('a.b', [], [grant('a.b', { void: true }), grant('a.c'), grant('a.b', { threadId: 't' })])).toBe(
      'inherit',
    )
  })

  it('comes before wider rules and leaves them unchanged', () => {
    const wide = rule('a.*', 'ask')
    expect(rulesWith([wide, rule('a.b', 'ask')], 'a.b', 'deny')).toEqual([{ pattern: 'a.b', decision: 'deny' }, wide])
    expect(rulesWith([wide, rule('a.b', 'ask')], 'a.b', 'inherit')).toEqual([wide])
    const conditional = rule('a.b', 'deny', { caller: 'code' })
    expect(rulesWith([conditional], 'a.b', 'allow')).toEqual([conditional])
  })

  it('matches only that tool, whatever its name', () => {
    expect(patternOf('a.read_*')).toBe('a.read_[*]')
    expect(patternOf('a.[x]?{y}')).toBe('a.[[]x][?]?y}')
  })

  it('never offers a choice without effect', () => {
    const inherited = { reason: '', allowRemember: true }
    expect(choicesFor({ ...inherited, decision: 'deny' })).toEqual(['inherit'])
    expect(choicesFor({ ...inherited, decision: 'allow' })).not.toContain('allow')
    expect(choicesFor({ ...inherited, decision: 'ask', allowRemember: false })).not.toContain('allow')
    expect(choicesFor({ ...inherited, decision: 'ask' })).toContain('allow')
  })
})
