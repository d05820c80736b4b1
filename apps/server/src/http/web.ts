/** Serves the built UI: hashed assets with a long cache, and the page for every path outside the API. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import type { AppType } from './api.ts'

const isPage = (path: string) => !/^\/api(\/|$)/i.test(path) && !/\.[a-z0-9]+$/i.test(path)

/** Placeholder for the CSP nonce, which differs in each response. */
const NONCE_PLACEHOLDER = '<meta property="csp-nonce" nonce=""'
/** Placeholder for the path in front of the app, which the UI reads for its routes and API calls. */
const BASE_PLACEHOLDER = '<meta name="base-path" content=""'

export function serveWeb(app: AppType, directory: string, basePath: string): void {
  const index = join(directory, 'index.html')
  if (!existsSync(index)) return
  const root = relative(process.cwd(), directory)
  app.use(
    '/assets/*',
    serveStatic({ root, onFound: (_, c) => c.header('cache-control', 'public, max-age=31536000, immutable') }),
  )
  app.get('*', async (c, next) => {
    if (!isPage(c.req.path)) return serveStatic({ root })(c, next)
    const page = withBasePath(await readFile(index, 'utf8'), basePath)
    const nonce = c.get('secureHeadersNonce') ?? ''
    return c.html(page.replace(NONCE_PLACEHOLDER, `<meta property="csp-nonce" nonce="${nonce}"`), 200, {
      'cache-control': 'no-cache',
    })
  })
}

/** The build writes `./` before its files; a page at a nested path needs their full path. */
const withBasePath = (page: string, basePath: string) =>
  page
    .replaceAll(/(src|href)="\.\//g, `$1="${basePath}/`)
    .replace(BASE_PLACEHOLDER, `<meta name="base-path" content="${basePath}"`)
