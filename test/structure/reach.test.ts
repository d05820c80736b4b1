/**
 * Who can start a process or open a socket, by what a file imports. A route that is not in this list cannot, whatever it is
 * sent: it has to ask the drivers, and there one function decides (`connections/stdio/policy.ts`) and one fetch is guarded.
 */
import { describe, expect, it } from 'vitest'
import { ROOT, type SourceFile, sourcesIn } from './import-graph.ts'

/** Each with the reason why it may. */
const PROCESSES: Record<string, string> = {
  'packages/loadout/src/connections/stdio/process-group.ts':
    'starts what the policy permitted, for stdio and for sandboxes',
  'packages/loadout/src/code-mode/guest/thread-entry.ts':
    'where the thread of a program begins: talks to who started it',
  'packages/loadout/src/code-mode/sandbox/thread.ts': 'starts threads for programs, with our own code and nothing else',
}
const SOCKETS: Record<string, string> = {
  'packages/loadout/src/connections/http/guard/address-guard.ts': 'resolves names, and judges what they are',
  'packages/loadout/src/connections/http/guard/agents.ts': 'the connections of the guarded fetch, each judged',
  'packages/loadout/src/connections/http/guard/proxy.ts': "the operator's proxy, for the guarded fetch",
  'packages/loadout/src/connections/sandbox/network/egress.ts':
    'the only network exit of a sandbox: declared hosts that the address guard allows, and our own sockets',
  'packages/loadout/src/storage/sql/open-postgres.ts': "the operator's database",
  'packages/loadout/src/storage/sql/postgres-listener.ts': "the operator's database",
  'apps/server/src/auth/client-address.ts': 'reads addresses, and opens none',
  'apps/server/src/http/node.ts': 'names the types of a listener, and opens none',
  'apps/server/src/serve.ts': 'listens',
  'apps/server/src/ops/telemetry.ts': "the operator's collector of traces",
}
/** Who calls something named fetch: the runtime's own in one place, elsewhere the one that it was given. */
const FETCHES: Record<string, string> = {
  'packages/loadout/src/connections/http/http.ts': 'given: that of the drivers',
  'packages/loadout/src/connections/http/origin-headers.ts': 'given: wraps it',
  'packages/loadout/src/connections/http/streamable-transport.ts': 'given: wraps it',
  'packages/loadout/src/connections/http/guard/redirects.ts': 'given: wraps it',
  'packages/loadout/src/connections/web-drivers.ts': "the runtime's own, where there is no other: in a browser",
  'packages/loadout/src/search/vectors/fetch-vectors.ts':
    "the runtime's own, in a browser: a file of the library beside itself",
  'packages/loadout/src/oauth/session/request-auth.ts': 'given: wraps it',
  'packages/loadout/src/oauth/session/revoke.ts': 'given: that of the drivers',
}

const files = ['packages/loadout/src', 'apps/server/src'].flatMap((folder) =>
  sourcesIn(`${ROOT}/${folder}`)
    .map((file) => ({ ...file, path: `${folder}/${file.path}` }))
    .filter(({ path }) => !path.includes('/testing/')),
)

const PROCESS =
  /^(node:)?(child_process|cluster|worker_threads|vm|inspector|module)$|client\/stdio$|^(execa|node-pty|cross-spawn)$/
const SOCKET =
  /^(node:)?(http|https|http2|net|tls|dgram|dns|dns\/promises)$|^(pg|undici|ws|axios|got|node-fetch|ky|@hono\/node-server|better-auth\/plugins\/generic-oauth|@opentelemetry\/exporter-.*)$/

/** Types alone open nothing. */
const VALUE_IMPORT = (specifier: string) =>
  new RegExp(
    `import\\s+(?!type\\b)[^'"]*['"]${specifier.replace(/[/.]/g, '\\$&')}['"]|import\\(\\s*['"]${specifier}['"]`,
  )

const importers = (among: readonly SourceFile[], pattern: RegExp) =>
  among
    .filter(({ imports, text }) => imports.some((one) => pattern.test(one) && VALUE_IMPORT(one).test(text)))
    .map(({ path }) => path)
    .sort()

/** A call of a name that nothing stands before. Comments and declarations of methods are left out. */
const fetchers = (among: readonly SourceFile[]) =>
  among
    .filter(({ text }) =>
      text
        .split('\n')
        .some(
          (line) => /(^|[^.\w#'"`])fetch\(/.test(line) && !/^\s*(\/\/|\*|\/\*|async fetch\(|fetch\(.*[:{]$)/.test(line),
        ),
    )
    .map(({ path }) => path)
    .sort()

describe('the library and server source', () => {
  it('starts processes only in the listed files', () =>
    expect(importers(files, PROCESS)).toEqual(Object.keys(PROCESSES).sort()))

  it('opens sockets only in the listed files', () => {
    expect(importers(files, SOCKET)).toEqual(Object.keys(SOCKETS).sort())
  })

  it('calls fetch only in the listed files', () => {
    expect(fetchers(files)).toEqual(Object.keys(FETCHES).sort())
    expect(files.filter(({ text }) => /globalThis\.fetch|new (WebSocket|EventSource)\(/.test(text))).toEqual([])
  })

  it('fails these checks when a process, a socket or a fetch is planted', () => {
    const planted = (text: string, imports: string[] = []): SourceFile[] => [{ path: 'x.ts', text, imports }]
    expect(importers(planted("import { spawn } from 'node:child_process'", ['node:child_process']), PROCESS)).toEqual([
      'x.ts',
    ])
    expect(importers(planted("await import('node:net')", ['node:net']), SOCKET)).toEqual(['x.ts'])
    expect(importers(planted("import type { Socket } from 'node:net'", ['node:net']), SOCKET)).toEqual([])
    expect(fetchers(planted('  const answer = await fetch(url)'))).toEqual(['x.ts'])
    expect(fetchers(planted('  // fetch(url)\n  host.fetch(url)'))).toEqual([])
  })
})
