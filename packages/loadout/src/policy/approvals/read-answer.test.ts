import { expect, it } from 'vitest'
import { parseAnswer } from './approval-rows.ts'

const ALLOWED = { userId: 'ann', id: 'appr_1', decision: 'allow', remember: 'thread' }

it('readAnswer accepts each form of an approval answer', () => {
  expect(parseAnswer(['ann', 'appr_1', { decision: 'allow', remember: 'thread' }])).toEqual(ALLOWED)
  expect(
    parseAnswer([
      { userId: 'ann', id: 'appr_1' },
      { type: 'allow', remember: 'thread' },
    ]),
  ).toEqual(ALLOWED)
})

it.each([
  [{ type: 'maybe' }, 'decision'],
  [{ type: 'allow', decision: 'deny' }, 'type'],
  [undefined, '(body)'],
])('rejects the answer %j and names its field', (answer, path) => {
  expect(() => parseAnswer(['ann', 'appr_1', answer])).toThrow(
    expect.objectContaining({ code: 'invalid-input', errors: [expect.objectContaining({ path })] }),
  )
})
