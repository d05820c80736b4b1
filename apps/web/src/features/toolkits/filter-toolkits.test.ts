import { expect, it } from 'vitest'
import type { Toolkit } from '../../api.ts'
import { filterToolkits, needsYou } from './filter-toolkits.ts'

const failed = (reason: string) =>
  ({ name: 'a', id: 'a', server: {}, options: {}, tools: [], state: { status: 'error', reason } }) as unknown as Toolkit

it('calls its user for what they can mend, and not for what the operator does not allow', () => {
  const [down, refused] = [failed('server-unreachable: It does not answer'), failed('stdio-refused: Not here')]
  expect([needsYou(down), needsYou(refused)]).toEqual([true, false])
  expect(filterToolkits([down, refused], { status: 'needs-you' })).toEqual([down])
})
