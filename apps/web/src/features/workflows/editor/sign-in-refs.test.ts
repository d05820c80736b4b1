import { expect, it } from 'vitest'
import type { Run } from '../queries.ts'
import { signInRefs, toolkitsOf } from './sign-in-refs.ts'

const step = (ref: string, code: string): Run['steps'][number] => ({
  id: ref,
  seq: 0,
  kind: 'call',
  request: { ref },
  status: 'failed',
  startedAt: '2026-01-01T00:00:00.000Z',
  error: { code, message: 'no' },
})

it('signInRefs lists each toolkit that needs a sign-in once, from the preflight check and from steps', () => {
  const steps = [step('mail.send', 'sign-in-needed'), step('mail.read', 'sign-in-needed'), step('b.c', 'denied')]
  expect(toolkitsOf(signInRefs({ steps }))).toEqual(['mail'])
  const problems = [
    { code: 'sign-in-needed', ref: 'files.read', message: '' },
    { code: 'not-found', ref: 'gone.x', message: '' },
  ]
  expect(signInRefs({ error: { code: 'x', message: '', problems }, steps: [] })).toEqual(['files.read'])
  expect(
    signInRefs({ error: { code: 'x', message: '', problems: 'odd' }, steps: [{ ...step('a.b', 'x'), request: null }] }),
  ).toEqual([])
})
