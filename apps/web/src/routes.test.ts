/** URL parameters are untrusted: a page gets only the validated ones. */
import { createMemoryHistory } from '@tanstack/react-router'
import { expect, it } from 'vitest'
import { createAppRouter } from './routes.tsx'

const searchAt = (address: string) => {
  const router = createAppRouter()
  router.update({ ...router.options, history: createMemoryHistory({ initialEntries: [address] }) })
  const matches = router.matchRoutes(router.latestLocation)
  return JSON.parse(JSON.stringify(matches.at(-1)?.search))
}

it.each([
  ['/connectors?status=zzz', {}],
  ['/connectors?q=[1]&add=url&open={"a":1}', {}],
  ['/connectors?add=http&q=files', { add: 'http', q: 'files' }],
  ['/tools?q=true&strategy=zzz', { q: 'true' }],
  ['/tools?q={"a":1}', {}],
  ['/sign-in?returnTo=https://example.org', {}],
  ['/sign-in?returnTo=javascript:alert(1)', {}],
  ['/sign-in?returnTo=//example.org/x', {}],
  ['/sign-in?returnTo=/tools', { returnTo: '/tools' }],
])('%s', (address, search) => {
  expect(searchAt(address)).toEqual(search)
})
