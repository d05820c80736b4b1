/**
 * HTML pages at the end of an OAuth sign-in. All values are escaped, and no text of the authorization server is shown.
 */

import type { HostError } from '@loadout/core'
import { html } from 'hono/html'
import { PAGE_COLOURS } from '../http/page-style.ts'

/** Notifies the opening page and closes the window. A file, because the CSP forbids inline scripts. */
export const CLOSE_SCRIPT = `const { toolkit, status } = document.body.dataset
new BroadcastChannel('loadout-sign-in').postMessage({ toolkit, status })
if (status === 'signed-in') setTimeout(() => window.close(), 300)
`

/** A file, because the CSP forbids inline styles. */
export const PAGE_STYLE = `${PAGE_COLOURS}body {
  font: 15px/1.55 system-ui, sans-serif;
  background: var(--canvas);
  color: var(--ink);
  margin: 0;
  padding: 15vh 1rem 2rem;
}
main {
  max-width: 26rem;
  margin: 0 auto;
  padding: 1.5rem;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 1rem;
  overflow-wrap: anywhere;
}
.brand {
  margin: 0 0 1rem;
  font-size: 0.8125rem;
  font-weight: 600;
  color: var(--ink-muted);
}
h1 {
  margin: 0 0 0.75rem;
  font-size: 1.125rem;
  letter-spacing: -0.01em;
}
.quiet {
  margin-bottom: 0;
  color: var(--ink-muted);
}
a {
  color: var(--accent);
}
.button {
  display: block;
  width: 100%;
  padding: 0.6rem 1rem;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--accent-ink);
  border: 0;
  font: inherit;
  font-weight: 500;
  cursor: pointer;
}
a:focus-visible,
.button:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}
`

interface SignedIn {
  name: string
  toolkit: string
  basePath: string
}

export const signedInPage = ({ name, toolkit, basePath }: SignedIn) =>
  page({
    basePath,
    title: 'Signed in',
    data: { toolkit, status: 'signed-in' },
    body: html`<p>You are signed in to <strong>${name}</strong>.</p>
      <p class="quiet">
        This window closes by itself. If it does not, close it, or go <a href="${basePath}/connectors">back to Loadout</a>.
      </p>`,
  })

export const failedPage = ({ message, action }: HostError, basePath: string) =>
  page({
    basePath,
    title: 'The sign-in did not work',
    data: { toolkit: '', status: 'failed' },
    body: html`<p>${message}</p>
      <p class="quiet">
        ${action.startsWith('http') ? 'Start the sign-in again.' : action} <a href="${basePath}/connectors">Back to Loadout</a>
      </p>`,
  })

/** Account as shown to a person: name and email instead of an id. */
export interface Account {
  userId: string
  name?: string | undefined
  email?: string | undefined
}

interface Confirm {
  account: Account
  name: string
  action: string
  basePath: string
  /** Hidden form fields. */
  fields: Readonly<Record<string, string | undefined>>
}

export const confirmPage = ({ account, name, action, basePath, fields }: Confirm) =>
  page({
    basePath,
    title: 'Is this your account?',
    data: { toolkit: '', status: 'asking' },
    // With `no-referrer` the browser would send `Origin: null` with the form.
    head: html`<meta name="referrer" content="strict-origin" />`,
    body: html`<p>
        You signed in to <strong>${name}</strong> for the Loadout account ${accountName(account)}. Whoever holds that
        account can then use <strong>${name}</strong> as you.
      </p>
      <form method="post" action="${action}">
        ${Object.entries(fields)
          .filter(([, value]) => value !== undefined)
          .map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}" />`)}
        <button class="button">It is my account: go on</button>
      </form>
      <p class="quiet">If somebody else sent you the link, close this window: nothing was stored.</p>`,
  })

const accountName = ({ userId, name, email }: Account) =>
  email === undefined ? html`<strong>${userId}</strong>` : html`<strong>${name || email}</strong> (${email})`

interface Page {
  /** Path in front of the app. */
  basePath: string
  title: string
  data: { toolkit: string; status: string }
  body: ReturnType<typeof html>
  head?: ReturnType<typeof html>
}

const page = ({ basePath, title, data, body, head }: Page) => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      ${head ?? ''}
      <title>${title} – Loadout</title>
      <link rel="stylesheet" href="${basePath}/api/oauth/page.css" />
    </head>
    <body data-toolkit="${data.toolkit}" data-status="${data.status}">
      <main>
        <p class="brand">Loadout</p>
        <h1>${title}</h1>
        ${body}
      </main>
      <script src="${basePath}/api/oauth/close.js"></script>
    </body>
  </html>`
