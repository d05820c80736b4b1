/**
 * The server of our own scenarios as a process: `node scenario-stdio.ts <legacy|modern> <log>`. What it reads, and what its
 * tools note, goes to the log, a line of JSON each.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { notifySession, type ScenarioState, scenarioServer } from './scenario-server.ts'

const [era = '', log = '', pages] = process.argv.slice(2)
const append = (line: object) => appendFileSync(log, `${JSON.stringify(line)}\n`)
const state: ScenarioState = {
  note: (note) => append({ note }),
  grown: 0,
  tellChanged: notifySession,
  ...(pages === undefined ? {} : { pages: JSON.parse(pages) }),
}

append({ note: `started ${process.pid}` })
process.stderr.write('ready to serve\n')
const input = new PassThrough()
createInterface({ input: process.stdin })
  .on('line', (line) => {
    append({ message: JSON.parse(line) })
    input.write(`${line}\n`)
  })
  .on('close', () => input.end())

const transport = new StdioServerTransport(input)
if (era === 'modern') serveStdio(() => scenarioServer(state), { legacy: 'reject', transport })
else await scenarioServer(state).connect(transport)
