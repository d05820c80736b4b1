/**
 * Starts the published servers of the gallery through Loadout and through the official client, compares them, and writes
 * `docs/about/compatibility.md`. `npm run prove:servers [-- --folder <dir>] [id …]`; a folder that is kept is not installed again.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Compared, compare } from './compare.ts'
import { type GalleryServer, readGallery } from './gallery.ts'
import { install } from './install.ts'

const TABLE = new URL('../../docs/about/compatibility.md', import.meta.url)
const LEAST_NPM = 30

interface Row {
  server: GalleryServer
  /** Why it was not run. */
  skipped?: string
  compared?: Compared
}

const { values, positionals } = parseArgs({ options: { folder: { type: 'string' } }, allowPositionals: true })
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'loadout-servers-'))
const chosen = readGallery().filter(({ id }) => positionals.length === 0 || positionals.includes(id))
const rows: Row[] = []
for (const server of chosen) rows.push(printed(await prove(server)))
if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
const green = rows.filter((row) => row.server.package.type === 'npm' && isGreen(row)).length
console.log(`${green} npm servers are green.`)
if (positionals.length === 0) writeFileSync(TABLE, page(rows))
const broken = rows.filter(
  ({ compared }) => compared?.loadout instanceof Error && !(compared.official instanceof Error),
)
process.exitCode = broken.length > 0 || (positionals.length === 0 && green < LEAST_NPM) ? 1 : 0

async function prove(server: GalleryServer): Promise<Row> {
  try {
    const installed = await install(server, folder)
    if (typeof installed === 'string') return { server, skipped: installed }
    return { server, compared: await compare(installed) }
  } catch (error) {
    return { server, skipped: `not run: ${reasonOf(error)}` }
  }
}

/** The words of an installer without addresses and folders of this machine. */
function reasonOf(error: unknown): string {
  const { stderr = '', message = '' } = (error ?? {}) as { stderr?: string; message?: string }
  const words = (stderr || message || String(error)).replaceAll(folder, '').replaceAll(/https?:\/\/\S+/g, '')
  return words.replaceAll(/\s+/g, ' ').trim().slice(0, 160)
}

function printed(row: Row): Row {
  const { server, skipped, compared } = row
  console.log(
    `${isGreen(row) ? 'ok  ' : '    '} ${server.id}: ${skipped ?? (compared?.differences.join('; ') || 'the same')}`,
  )
  return row
}

function isGreen({ compared }: Row): boolean {
  return compared !== undefined && !(compared.loadout instanceof Error) && compared.differences.length === 0
}

function page(all: readonly Row[]): string {
  const cells = all.map(rowOf)
  const run = all.filter(({ skipped }) => skipped === undefined)
  return `# Compatibility with published servers

\`npm run prove:servers\` installs the servers of \`apps/server/src/gallery/gallery.json\` in their pinned versions, starts each through
Loadout and through the official client (\`@modelcontextprotocol/client\`), and compares tool names, input schemas and some calls. It
wrote this page. ${run.length} of ${all.length} servers were run, ${all.filter(isGreen).length} are the same in both. Python servers need
\`uv\`, Go servers need \`go\`, other binaries must be on the \`PATH\`.

| server | package | version | transport | protocol | tools | calls | differences |
| --- | --- | --- | --- | --- | --: | --: | --- |
${cells.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`
}

function rowOf({ server, skipped, compared }: Row): string[] {
  const { name, version = '', type } = server.package
  const seen = compared?.loadout instanceof Error ? undefined : compared?.loadout
  const official = compared?.official instanceof Error ? undefined : compared?.official
  const differences = skipped ?? (compared?.differences.join('; ') || 'none')
  return [
    server.title,
    `${type} \`${name}\``,
    version,
    'stdio',
    official?.era ?? '',
    seen ? String(seen.tools.size) : '',
    seen ? String(seen.answers.length) : '',
    differences.replaceAll('|', '\\|'),
  ]
}
