/**
 * `npm run prove:findings`: shows that the test of each finding fails without its fix. It removes one fix after the other from the
 * working tree, runs the test, restores the file, and prints each test that stays green. The tree must be clean.
 * `npm run prove:findings -- G5 N1` checks only these findings.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

interface Removal {
  finding: string
  file: string
  /** Text of the fix, and the text without it. */
  fix: string
  without: string
  test: string
  project?: 'unit' | 'pure'
}

const LIBRARY = 'packages/loadout'
const REMOVALS: readonly Removal[] = [
  {
    finding: 'R1: a slow server of the new era connects',
    file: 'src/connections/session/probed-transport.ts',
    fix: "if (early === 'refused') return legacy",
    without: 'if (legacy) return legacy',
    test: 'test/connections/slow-start.test.ts',
  },
  {
    finding: 'R2: the order of a schema does not change a tool',
    file: 'src/catalog/fingerprint.ts',
    fix: 'canonical(meaningOf(manifest))',
    without: 'JSON.stringify(manifest)',
    test: 'src/catalog/fingerprint.test.ts',
  },
  {
    finding: 'R3, G10, N2: ordinary words are not masked',
    file: 'src/toolkits/secrets/secret-values.ts',
    fix: 'if (isNamed) return isStrong(value) && !isPath(value) ? [value, ...inside] : inside',
    without: 'if (isNamed) return [value, ...inside]',
    test: 'src/toolkits/secrets/secret-values.test.ts',
  },
  {
    finding: 'R4: a command that prints gets more time',
    file: 'src/connections/pool/pending-handshakes.ts',
    fix: 'const printedAt = lastOutputAt?.()',
    without: 'const printedAt = lastOutputAt ? undefined : undefined',
    test: 'src/connections/pool/startups.test.ts',
  },
  {
    finding: 'R4: a command that prints may start for five minutes',
    file: 'src/connections/connector.ts',
    fix: 'maxMs: Math.max(stdioMs, stdioMostMs), setting }',
    without: 'setting: stdioMostMs > 0 ? setting : undefined }',
    test: 'src/connections/pool/startups.test.ts',
  },
  {
    finding: 'N4: proxy and certificate variables reach commands',
    file: '../../apps/server/src/command-env.ts',
    fix: '(network && isNetwork(name))',
    without: '(network && isNetwork(name) && value === undefined)',
    test: '../../apps/server/src/config.test.ts',
  },
  {
    finding: 'R5, G1: a missing back-channel falls back to the older era',
    file: 'src/connections/session/eras.ts',
    fix: 'return NO_BACK_CHANNEL.test(words) ? words : undefined',
    without: 'return words === undefined ? words : undefined',
    test: 'src/connections/session/eras.test.ts',
  },
  {
    finding: 'R6, G4, G7, N3: a refusal is no failure of the server',
    file: 'src/connections/errors.ts',
    fix: "  return new HostError('refused-by-server', {\n    detail: `The server refused the request",
    without: "  return new HostError('protocol-error', {\n    detail: `The server refused the request",
    test: 'test/refusals.test.ts',
  },
  {
    finding: 'R7: `format` is an annotation',
    file: 'src/json-schema/keywords/value.ts',
    fix: 'if (!rule || !compiler.compilation.limits.assertFormats) return',
    without: 'if (!rule) return',
    test: 'src/calls/arguments.test.ts',
  },
  {
    finding: 'R8: a repeated text counts once',
    file: 'src/calls/stages/with-results.ts',
    fix: '!isRepeated(texts, structuredContent)',
    without: '!(isRepeated(texts, structuredContent) && most < 0)',
    test: 'src/calls/arguments.test.ts',
  },
  {
    finding: 'R9: sign-out revokes as the client is registered',
    file: 'src/oauth/session/revoke.ts',
    fix: "if (method === 'client_secret_post') body.set('client_secret', client_secret)",
    without: '',
    test: 'test/sign-in/sign-in.test.ts',
  },
  {
    finding: 'R10, G9: resource templates are listed',
    file: 'src/catalog/resources.ts',
    fix: "use({ userId, toolkit }, (connection) => listedOrNone(connection, 'resourceTemplates'), none)",
    without: "use({ userId, toolkit }, (connection) => listedOrNone(connection, 'resources'), none)",
    test: 'test/refusals.test.ts',
  },
  {
    finding: 'R11: a server without OAuth metadata asks for a token',
    file: 'src/oauth/errors.ts',
    fix: "action: 'Add a token or header to this server.'",
    without: "action: 'Sign in to the server.'",
    test: 'test/bearer-only.test.ts',
  },
  {
    finding: 'R12: icons are kept',
    file: 'src/catalog/read-manifests.ts',
    fix: '    ...iconsOf(raw, name, warnings),\n',
    without: '',
    test: 'src/catalog/read-manifests.test.ts',
  },
  {
    finding: 'R12: a crash reason begins with the error',
    file: 'src/connections/stdio/crash-reason.ts',
    fix: 'const error = TRACE.test(stderr) ?',
    without: "const error = TRACE.test(stderr) && stderr === '' ?",
    test: 'src/connections/stdio/crash-reason.test.ts',
  },
  {
    finding: 'G2: tools are listed before the first call',
    file: 'src/connections/session/session.ts',
    fix: '    await this.#listFirst(options)\n',
    without: '',
    test: 'src/connections/session/eras.test.ts',
  },
  {
    finding: 'G3: a ping of the server is answered',
    file: 'src/connections/session/probed-transport.ts',
    fix: "if (method === 'ping' && (this.#isModern || !this.#handedOver))",
    without: "if (method === 'pong' && (this.#isModern || !this.#handedOver))",
    test: 'src/connections/session/eras.test.ts',
  },
  {
    finding: 'G5: a broken HTTP+SSE stream reconnects',
    file: 'src/connections/http/http.ts',
    fix: 'notifyOnEnd(response.body, onEnd)',
    without: 'onEnd.length === 0 ? response.body : notifyOnEnd(response.body, onEnd)',
    test: 'test/connections/sse.test.ts',
  },
  {
    finding: 'G6: the log level reaches a server of the new era',
    file: 'src/connections/session/session.ts',
    fix: "if (this.info.era !== 'modern' || !this.#client.getServerCapabilities()?.logging) return options",
    without: 'if (this.info.era) return options',
    test: 'src/connections/session/eras.test.ts',
  },
  {
    finding: 'G8: schemas keep the order of their properties',
    file: 'src/storage/sql/migrations/embedded.ts',
    fix: String.raw`ALTER COLUMN \"output_schema_json\" SET DATA TYPE json;`,
    without: String.raw`ALTER COLUMN \"output_schema_json\" SET DATA TYPE jsonb;`,
    test: 'src/storage/pglite.test.ts',
  },
  {
    finding: 'G11: an unknown certificate names NODE_EXTRA_CA_CERTS',
    file: 'src/connections/http/client/network-errors.ts',
    fix: 'NODE_EXTRA_CA_CERTS set to that file',
    without: 'a setting',
    test: 'test/error-words.test.ts',
  },
  {
    finding: 'N1: a thread has all toolkits without a cap',
    file: 'src/loadout/loadouts.ts',
    fix: 'const [{ maxServersPerThread }, settings] = await Promise.all([',
    without: 'const [{ maxServersPerThread = 16 }, settings] = await Promise.all([',
    test: 'test/loadout/many-toolkits.test.ts',
  },
  {
    finding: 'N5: defaults are filled in',
    file: 'src/calls/stages/with-validation.ts',
    fix: 'return filled === call.arguments ? call : { ...call, arguments: filled }',
    without: 'return filled ? call : call',
    test: 'src/calls/arguments.test.ts',
  },
  {
    finding: 'N6: a long description ends at a sentence',
    file: 'src/loadout/model-description.ts',
    fix: 'if (text.length <= MODEL_DESCRIPTION) return text',
    without: 'if (text.length > 0) return text',
    test: 'src/catalog/store-catalog.test.ts',
  },
  {
    finding: 'N7: configs of other apps are read',
    file: 'src/toolkits/import/shapes.ts',
    fix: "'context_servers', ",
    without: '',
    test: 'src/toolkits/import/read-source.test.ts',
    project: 'pure',
  },
  {
    finding: 'N8: a schema without a type is an object',
    file: 'src/catalog/read-manifests.ts',
    fix: "isUntyped ? { type: 'object', ...inputSchema } : inputSchema",
    without: 'inputSchema',
    test: 'src/calls/arguments.test.ts',
  },
  {
    finding: 'N9: a detached process is named',
    file: 'src/connections/stdio/left-processes.ts',
    fix: "if (!environment.split('\\0').includes(text)) return []",
    without: 'if (environment || text) return []',
    test: 'src/connections/stdio/left-processes.test.ts',
  },
  {
    finding: 'N10: the list has no schemas',
    file: 'src/loadout/toolkit-views.ts',
    fix: '(await views(userId, () => registry.list(userId))).map(withoutSchemas)',
    without: '(await views(userId, () => registry.list(userId))) as unknown as ReturnType<typeof withoutSchemas>[]',
    test: '../../apps/server/test/servers/many-servers.test.ts',
  },
  {
    finding: 'N11: a failed state has an action',
    file: 'src/toolkits/last-failure.ts',
    fix: 'action: action ?? ERRORS[code].action',
    without: "action: action ? '' : ''",
    test: 'test/failed-state.test.ts',
  },
  {
    finding: 'N12: failed servers come first',
    file: '../../apps/web/src/features/servers/list/filter-toolkits.ts',
    fix: 'return toolkits.toSorted((a, b) => rankOf(a) - rankOf(b))',
    without: 'return rankOf ? [...toolkits] : []',
    test: '../../apps/web/src/features/servers/list/filter-toolkits.test.ts',
    project: 'pure',
  },
]

if (spawnSync('git', ['diff', '--quiet']).status !== 0) {
  console.error('The working tree has changes. Commit or stash them first.')
  process.exit(1)
}
const ids = process.argv.slice(2)
const removals = REMOVALS.filter(({ finding }) => {
  const own = finding.slice(0, finding.indexOf(':')).split(', ')
  return ids.length === 0 || ids.some((id) => own.includes(id))
})
const green: string[] = []
for (const { finding, file, fix, without, test, project = 'unit' } of removals) {
  const path = join(LIBRARY, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(fix)) {
    console.log(`? ${finding}: the fix is not in ${path}`)
    green.push(finding)
    continue
  }
  try {
    writeFileSync(path, text.replace(fix, without))
    const run = spawnSync('vitest', ['run', '--project', project, '--bail', '1', join(LIBRARY, test)], {
      timeout: 300_000,
    })
    const isRed = /Tests .*failed/.test(stripVTControlCharacters(run.stdout.toString()))
    console.log(`${isRed ? '✓' : '✗'} ${finding}`)
    if (!isRed) green.push(finding)
  } finally {
    writeFileSync(path, text)
  }
}
console.log(`${removals.length - green.length} of ${removals.length} tests fail without their fix.`)
if (green.length > 0) process.exitCode = 1
