/** The pages at the end of a sign-in. All that varies is escaped; nothing of what an authorization server says is shown. */
import { html } from 'hono/html'
import type { HostError } from 'loadout'

/** Tells the page that opened this one, and goes. Its own file, because pages may run no other scripts. */
export const CLOSE_SCRIPT = `const { toolkit, status } = document.body.dataset
new BroadcastChannel('loadout-sign-in').postMessage({ toolkit, status })
if (status === 'signed-in') setTimeout(() => window.close(), 300)
`

export const signedInPage = ({ name, toolkit }: { name: string; toolkit: string }) =>
  page({
    title: 'Signed in',
    data: { toolkit, status: 'signed-in' },
    body: html`<p>You are signed in to <strong>${name}</strong>.</p>
      <p class="quiet">
        This window closes by itself. If it does not, close it, or go <a href="/connectors">back to Loadout</a>.
      </p>`,
  })

export const failedPage = ({ message, action }: HostError) =>
  page({
    title: 'The sign-in did not work',
    data: { toolkit: '', status: 'failed' },
    body: html`<p>${message}</p>
      <p class="quiet">
        ${action.startsWith('http') ? 'Start the sign-in again.' : action} <a href="/connectors">Back to Loadout</a>
      </p>`,
  })

interface Confirm {
  userId: string
  name: string
  action: string
  /** What the form brings along. */
  fields: Readonly<Record<string, string | undefined>>
}

export const confirmPage = ({ userId, name, action, fields }: Confirm) =>
  page({
    title: 'Is this your account?',
    data: { toolkit: '', status: 'asking' },
    // Without it the browser hides from us that the form is ours.
    head: html`<meta name="referrer" content="strict-origin" />`,
    body: html`<p>
        You signed in to <strong>${name}</strong> for the Loadout account <strong>${userId}</strong>. Whoever holds that
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

interface Page {
  title: string
  data: { toolkit: string; status: string }
  body: ReturnType<typeof html>
  head?: ReturnType<typeof html>
}

const page = ({ title, data, body, head }: Page) => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      ${head ?? ''}
      <title>${title} – Loadout</title>
      <style>
        :root {
          color-scheme: light dark;
        }
        body {
          font: 16px/1.5 system-ui, sans-serif;
          max-width: 30rem;
          margin: 15vh auto;
          padding: 0 1.25rem;
        }
        h1 {
          font-size: 1.25rem;
        }
        .quiet {
          opacity: 0.75;
        }
        .button {
          display: inline-block;
          padding: 0.5rem 1rem;
          border-radius: 0.5rem;
          background: #2f5bea;
          color: #fff;
          border: 0;
          font: inherit;
          cursor: pointer;
        }
        .button:focus-visible {
          outline: 3px solid #8aa4f5;
          outline-offset: 2px;
        }
      </style>
    </head>
    <body data-toolkit="${data.toolkit}" data-status="${data.status}">
      <main>
        <h1>${title}</h1>
        ${body}
      </main>
      <script src="/api/oauth/close.js"></script>
    </body>
  </html>`
