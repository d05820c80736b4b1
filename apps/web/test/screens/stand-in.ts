/** Answers of a server for many users, where the one behind the screens has one user alone. */
import type { Page } from 'playwright'

export const OLGA = { id: 'user_olga', name: 'Olga Example', email: 'olga@example.com', operator: true }
const SESSION = {
  mode: 'multi-user',
  user: OLGA,
  methods: { password: true, oidc: { name: 'Example ID' } },
  setupNeeded: false,
}

export const forget = (page: Page) => page.unrouteAll({ behavior: 'ignoreErrors' })

export async function standIn(page: Page, answers: Record<string, unknown>): Promise<void> {
  await forget(page)
  for (const [path, json] of Object.entries({ 'auth/session': SESSION, ...answers }))
    await page.route(
      ({ pathname }) => pathname === `/api/${path}`,
      (route) => route.fulfill({ json }),
    )
}

export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
