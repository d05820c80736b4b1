/** Starts the server as a process on a data folder, and talks to it. */
import { type Program, start } from './run-process.ts'

export const MAIN = ['apps/server/src/main.ts']

export async function serve(dataDir: string): Promise<{ program: Program; url: string }> {
  const program = start(MAIN, { PORT: '0', LOADOUT_DATA_DIR: dataDir })
  return { program, url: await urlOf(program) }
}

export const urlOf = async (program: Program): Promise<string> =>
  (await program.says(/Loadout is at (http:\S+)/))[1] ?? ''

export const post = (url: string, body: string): Promise<Response> =>
  fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

export const list = async (url: string): Promise<Array<{ id: string }>> =>
  (await (await fetch(`${url}/api/mcp`)).json()).toolkits
