/** Small MCP servers for the pages' tests, written as processes: what they offer is said by a file that a test changes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ToolFixture {
  name: string
  title?: string
  description?: string
  inputSchema?: object
  outputSchema?: object
  annotations?: object
  icons?: object[]
}

/** Answers by hand: an SDK would not let it offer what is wrong, or ask for nothing. */
const SOURCE = `
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const file = process.argv[2]
const said = () => JSON.parse(readFileSync(file, 'utf8'))
writeFileSync(file + '.pid', String(process.pid))
if (said().prints) process.stderr.write(said().prints + '\\n')
if (said().dies) process.stderr.write(said().dies, () => process.exit(1))
else {
  const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  let asked
  createInterface({ input: process.stdin }).on('line', async (line) => {
    while (said().waits) await new Promise((resolve) => setTimeout(resolve, 50))
    const { id, method, params, result } = JSON.parse(line)
    const answer = (result) => write({ id, result })
    if (method === 'initialize')
      answer({ protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: 'fixture', version: '1' } })
    else if (method === 'tools/list') answer({ tools: said().tools })
    else if (method === 'resources/list') answer({ resources: said().resources ?? [] })
    else if (method === 'resources/templates/list') answer({ resourceTemplates: [] })
    else if (method === 'prompts/list') answer({ prompts: said().prompts ?? [] })
    else if (method === 'ping') answer({})
    else if (method === 'tools/call' && params.name === 'ask') {
      asked = id
      const requestedSchema = { type: 'object', properties: { city: { type: 'string', title: 'City' } }, required: ['city'] }
      write({ id: 'q1', method: 'elicitation/create', params: { message: 'Where do you live?', requestedSchema } })
    } else if (id === 'q1') write({ id: asked, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } })
    else if (method === 'tools/call') answer({ content: [{ type: 'text', text: params.name }] })
    else if (id !== undefined) write({ id, error: { code: -32601, message: 'no such method' } })
  })
}
`

export interface ServerFixture {
  tools?: ToolFixture[]
  resources?: object[]
  prompts?: object[]
  /** Whether it answers nothing, until something else is said. */
  waits?: boolean
  /** What it prints before it ends at its start. */
  dies?: string
  /** A line that it prints as it starts. */
  prints?: string
}

export interface FixtureServer extends AsyncDisposable {
  command: string
  args: string[]
  /** The same as a person would write it. */
  short: { command: string; args: string[]; cwd: string }
  say(said: ServerFixture): Promise<void>
  /** Whether the last process that was started is there. */
  isRunning(): Promise<boolean>
}

export async function fixtureServer(fixture: ServerFixture): Promise<FixtureServer> {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-fixture-'))
  const [script, file] = [join(folder, 'server.mjs'), join(folder, 'said.json')]
  const say = ({ tools = [], ...rest }: ServerFixture) =>
    writeFile(
      file,
      JSON.stringify({ ...rest, tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) }),
    )
  await writeFile(script, SOURCE)
  await say(fixture)
  return {
    command: process.execPath,
    args: [script, file],
    short: { command: 'node', args: ['server.mjs', 'said.json'], cwd: folder },
    say,
    async isRunning() {
      try {
        return process.kill(Number(await readFile(`${file}.pid`, 'utf8')), 0)
      } catch {
        return false
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
