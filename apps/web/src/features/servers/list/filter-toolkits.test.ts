import { expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import type { StdioRules } from '../queries.ts'
import { failedFirst, filterToolkits, needsYou } from './filter-toolkits.ts'

const failed = (server: object, tier = 'user') =>
  ({ name: 'a', id: 'a', tier, server, options: {}, tools: [], state: { status: 'error' } }) as unknown as Toolkit
const rules = (policy: StdioRules['policy']): StdioRules => ({ policy, templates: [] })

it('needsYou flags toolkits that the user can fix and not those that the operator does not allow', () => {
  const remote = failed({ type: 'http', url: 'https://a.example/' })
  const command = failed({ type: 'stdio', command: 'x' })
  const prepared = failed({ type: 'stdio', template: 'x' })
  const global = failed({ type: 'stdio', command: 'x' }, 'app')
  const all = [remote, command, prepared, global]
  const called = (policy: StdioRules['policy']) => all.filter((one) => needsYou(one, rules(policy)))
  expect(called('on')).toEqual(all)
  expect(called('off')).toEqual([remote, global])
  expect(called('templates')).toEqual([remote, prepared, global])
  expect(filterToolkits(all, { status: 'needs-you', rules: rules('off') })).toEqual([remote, global])
})

it('shows failed servers first, also while they are tried again, and then those that need their user', () => {
  const of = (name: string, state: object, enabled = true) =>
    ({ ...failed({ type: 'http' }), name, state, enabled }) as Toolkit
  const all = [
    of('fine', { status: 'connected' }),
    of('off', { status: 'disabled' }, false),
    of('first try', { status: 'connecting' }),
    of('sign in', { status: 'sign-in-needed' }),
    of('failed', { status: 'error', reason: 'It is away.' }),
    of('again', { status: 'connecting', reason: 'It is away.' }),
  ]
  const names = failedFirst(all).map(({ name }) => name)
  expect(names).toEqual(['failed', 'again', 'sign in', 'fine', 'off', 'first try'])
  expect(filterToolkits(all, { status: 'failed' }).map(({ name }) => name)).toEqual(['failed', 'again'])
})
