/** HTML API reference built from the OpenAPI document: no script, no external resources, all values escaped. */

import { html, raw } from 'hono/html'
import { PAGE_COLOURS } from './page-style.ts'

interface Schema {
  [key: string]: unknown
}
interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
}
interface Operation {
  summary?: string
  parameters?: readonly Parameter[]
  requestBody?: { required?: boolean; content?: Content }
  responses?: Record<string, { description?: string; content?: Content }>
}
type Content = Record<string, { schema?: Schema }>

/** The parts of an OpenAPI document that the page shows. */
export interface ApiDocument {
  info: { title: string; version: string }
  paths?: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

interface Route {
  method: string
  path: string
  operation: Operation
}

type Html = ReturnType<typeof html>

export function referencePage(document: ApiDocument, basePath = ''): Html {
  const groups = Map.groupBy(routesOf(document), ({ path }) => path.split('/')[2] ?? path)
  const sections = [...groups].map(([name, routes]) => section(name, routes))
  const { title, version } = document.info
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} API</title>
        <link rel="stylesheet" href="${basePath}/api/docs/page.css" />
      </head>
      <body>
        <nav aria-label="Parts of the API">
          <p class="brand">${title} ${version}</p>
          <ul>
            ${[...groups.keys()].map((name) => html`<li><a href="#${name}">${name}</a></li>`)}
            <li><a href="#schemas">Schemas</a></li>
          </ul>
        </nav>
        <main>
          <h1>${title} API</h1>
          <p>
            JSON in and out. A bearer token (<code>Authorization: Bearer lo_…</code>) or the session of the pages says who asks; a
            local server asks nobody. What is not yours does not exist (404). Errors are problem documents
            (<a href="#schema-Problem">Problem</a>) with a <code>code</code>, what to do (<code>action</code>) and, where a field is wrong,
            its place. The same for programs:
            <a href="${basePath}/api/openapi.json">openapi.json</a>.
          </p>
          ${sections} ${schemasOf(document)}
        </main>
      </body>
    </html>`
}

function routesOf({ paths = {} }: ApiDocument): Route[] {
  return Object.entries(paths)
    .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

const section = (name: string, routes: readonly Route[]): Html =>
  html`<section>
    <h2 id="${name}">${name}</h2>
    ${routes.map(routeOf)}
  </section>`

function routeOf({ method, path, operation }: Route): Html {
  const { summary, parameters = [], requestBody, responses = {} } = operation
  // The problem response is the same for all routes and documented once.
  const documented = Object.entries(responses).filter(([status]) => status !== 'default')
  const id = `${method}-${path.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '')}`
  return html`<article id="${id}">
    <h3><a href="#${id}"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></a></h3>
    ${summary ? html`<p>${summary}</p>` : ''} ${parameters.length > 0 ? parametersOf(parameters) : ''}
    ${requestBody?.content ? bodyOf(requestBody.required ? 'Body' : 'Body, where there is one', requestBody.content) : ''}
    ${documented.map(([status, { description = '', content }]) =>
      content ? bodyOf(`${status} ${description}`, content) : html`<p class="answer">${status} ${description}</p>`,
    )}
  </article>`
}

const parametersOf = (parameters: readonly Parameter[]): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="Parameters">
    <table>
      <thead>
        <tr>
          <th>Parameter</th>
          <th>In</th>
          <th>Type</th>
          <th>What it is</th>
        </tr>
      </thead>
      <tbody>
        ${parameters.map(
          (parameter) =>
            html`<tr>
              <td><code>${parameter.name}</code>${parameter.required ? '' : html` <span class="quiet">optional</span>`}</td>
              <td>${parameter.in}</td>
              <td>${typeOf(parameter.schema)}</td>
              <td>${parameter.description ?? ''}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`

/** Links a named schema and unfolds any other. */
function bodyOf(title: string, content: Content): Html {
  const [[type, { schema }] = ['', {} as { schema?: Schema }]] = Object.entries(content)
  const name = nameOf(schema)
  if (name !== undefined) return html`<p class="answer">${title}: <a href="#schema-${name}">${name}</a></p>`
  if (!schema || !type.endsWith('json')) return html`<p class="answer">${title} <span class="quiet">${type}</span></p>`
  return html`<details>
    <summary>${title}</summary>
    ${schemaText(schema)}
  </details>`
}

const schemasOf = ({ components = {} }: ApiDocument): Html =>
  html`<section>
    <h2 id="schemas">Schemas</h2>
    ${Object.entries(components.schemas ?? {}).map(
      ([name, schema]) =>
        html`<article id="schema-${name}">
          <h3>${name}</h3>
          ${schemaText(schema)}
        </article>`,
    )}
  </section>`

const REF = /&quot;#\/components\/schemas\/([A-Za-z0-9_.-]+)&quot;/g

/** The text is escaped before the links are inserted. */
function schemaText(schema: Schema): Html {
  const escaped = escapeHtml(JSON.stringify(schema, null, 2))
  const linked = escaped.replaceAll(REF, '<a href="#schema-$1">$1</a>')
  return html`<pre tabindex="0">${raw(linked)}</pre>`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)

function nameOf(schema: Schema | undefined): string | undefined {
  const ref = schema?.$ref
  return typeof ref === 'string' ? ref.split('/').at(-1) : undefined
}

function typeOf(schema: Schema | undefined): string {
  const values = schema?.enum
  if (Array.isArray(values)) return values.join(' · ')
  return String(schema?.type ?? nameOf(schema) ?? 'any')
}

export const REFERENCE_STYLE = `${PAGE_COLOURS}
* {
  box-sizing: border-box;
}
html {
  scroll-padding-top: 1rem;
}
body {
  display: grid;
  grid-template-columns: 13rem minmax(0, 56rem);
  gap: 0 2.5rem;
  margin: 0;
  font: 15px/1.55 system-ui, sans-serif;
  background: var(--canvas);
  color: var(--ink);
}
nav {
  position: sticky;
  top: 0;
  height: 100vh;
  overflow-y: auto;
  padding: 1.5rem 1rem 2rem 1.5rem;
  border-right: 1px solid var(--line);
}
nav ul {
  margin: 0;
  padding: 0;
  list-style: none;
}
nav a {
  display: block;
  padding: 0.2rem 0;
}
.brand {
  margin: 0 0 1rem;
  font-size: 0.8125rem;
  font-weight: 600;
  color: var(--ink-muted);
}
main {
  padding: 2rem 1rem 6rem;
  overflow-wrap: anywhere;
}
h1 {
  margin: 0 0 0.75rem;
  font-size: 1.5rem;
  letter-spacing: -0.015em;
}
h2 {
  margin: 3rem 0 1rem;
  font-size: 1.125rem;
}
article {
  margin: 0 0 0.75rem;
  padding: 0.9rem 1.1rem;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
}
article:target {
  border-color: var(--accent);
}
h3 {
  margin: 0;
  font-size: 0.9375rem;
}
h3 a {
  color: inherit;
  text-decoration: none;
}
p {
  margin: 0.4rem 0 0;
}
code,
pre,
.method {
  font: 0.8125rem/1.5 ui-monospace, monospace;
}
.method {
  display: inline-block;
  min-width: 3.6rem;
  font-weight: 700;
  color: var(--accent);
}
.answer,
summary {
  margin: 0.4rem 0 0;
  font-size: 0.875rem;
  color: var(--ink-muted);
}
summary {
  cursor: pointer;
}
.quiet {
  color: var(--ink-muted);
}
pre {
  max-height: 30rem;
  margin: 0.5rem 0 0;
  padding: 0.75rem;
  overflow: auto;
  background: var(--canvas);
  border: 1px solid var(--line);
  border-radius: 0.5rem;
}
.scroll {
  overflow-x: auto;
}
table {
  width: 100%;
  margin-top: 0.6rem;
  border-collapse: collapse;
  font-size: 0.875rem;
}
th,
td {
  padding: 0.25rem 0.75rem 0.25rem 0;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
th {
  font-weight: 500;
  color: var(--ink-muted);
}
a {
  color: var(--accent);
}
a:focus-visible,
summary:focus-visible,
pre:focus-visible,
.scroll:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}
@media (max-width: 50rem) {
  body {
    display: block;
  }
  nav {
    position: static;
    height: auto;
    padding: 1rem;
    border-right: 0;
    border-bottom: 1px solid var(--line);
  }
  nav ul {
    display: flex;
    flex-wrap: wrap;
    gap: 0 1rem;
  }
}
`
