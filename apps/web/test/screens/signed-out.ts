/** Sign-in pages and the dialogs over every page. Stubbed session answers stand for a server with users. */
import type { Page } from 'playwright'

const SIGNED_OUT = {
  mode: 'multi-user',
  user: null,
  methods: { password: true, oidc: { name: 'Example ID' } },
  setupNeeded: false,
}

const PROVIDER_ALONE = { ...SIGNED_OUT, methods: { password: false, oidc: { name: 'Example ID' } } }

async function answer(page: Page, path: string, body: unknown): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.route(`**/api/auth/${path}`, (route) => route.fulfill({ json: body }))
}

async function open(page: Page, path: string, heading: string): Promise<void> {
  // Another fragment of the same address would not be a new page.
  await page.goto('about:blank')
  await page.goto(path)
  await page.getByRole('heading', { name: heading }).waitFor()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'sign in': async (page) => {
    await answer(page, 'session', SIGNED_OUT)
    await open(page, '/sign-in?problem=no-account', 'Sign in')
    await page.getByRole('link', { name: 'Continue with Example ID' }).waitFor()
  },
  'sign in by password': async (page) => {
    await answer(page, 'session', SIGNED_OUT)
    await open(page, '/sign-in', 'Sign in')
    await page.getByRole('button', { name: 'Use a password instead' }).click()
    await page.getByLabel('Email').waitFor()
  },
  'nobody yet': async (page) => {
    await answer(page, 'session', { ...SIGNED_OUT, setupNeeded: true })
    await open(page, '/sign-in', 'Nobody operates this server yet')
  },
  setup: async (page) => {
    await answer(page, 'link', { kind: 'setup', expiresAt: new Date().toISOString() })
    await open(page, '/setup#token', 'Set up this server')
  },
  invitation: async (page) => {
    await answer(page, 'link', { kind: 'invite', email: 'ann@example.com', expiresAt: new Date().toISOString() })
    await open(page, '/invite#token', 'Welcome')
  },
  'setup by a provider': async (page) => {
    await answer(page, 'link', { kind: 'setup', expiresAt: new Date().toISOString() })
    await page.route('**/api/auth/session', (route) => route.fulfill({ json: PROVIDER_ALONE }))
    await open(page, '/setup#token', 'Set up this server')
    await page.getByRole('button', { name: 'Continue with Example ID' }).waitFor()
  },
  'invitation by a provider': async (page) => {
    await answer(page, 'link', { kind: 'invite', email: 'ann@example.com', expiresAt: new Date().toISOString() })
    await page.route('**/api/auth/session', (route) => route.fulfill({ json: PROVIDER_ALONE }))
    await open(page, '/invite#token', 'Welcome')
    await page.getByRole('link', { name: 'Continue with Example ID' }).waitFor()
  },
  'dead link': async (page) => {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await open(page, '/reset#token', 'This link does not work')
  },
  palette: async (page) => {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await open(page, '/connectors', 'Your servers')
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('option', { name: 'Workflows' }).waitFor()
  },
  'no such page': (page) => open(page, '/no/such/page', 'There is no such page'),
}
