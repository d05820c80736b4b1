/** Serves the OpenAPI document and an HTML reference page. Both are public. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from './env.ts'
import { withPublishedPatterns } from './published-patterns.ts'
import { type ApiDocument, REFERENCE_STYLE, referencePage } from './reference-page.ts'

export function addDocument(app: OpenAPIHono<Env>, { version, basePath }: { version: string; basePath: string }): void {
  const head = {
    openapi: '3.1.0',
    info: { title: 'Loadout', version },
    // Paths of the document are relative to its server.
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ apiKey: [] }, { session: [] }] as Array<Record<string, string[]>>,
  }
  const document = () => withPublishedPatterns(app.getOpenAPI31Document(head))
  app.get('/api/openapi.json', (c) => c.json(document(), 200))
  app.get('/api/docs', (c) => c.html(referencePage(document() as unknown as ApiDocument, basePath)))
  app.get('/api/docs/page.css', (c) => c.body(REFERENCE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }))
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'lo_…',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'loadout.session_token',
    description: 'With https its name begins with `__Secure-`.',
  })
}
