/** Installs a published server into a folder of its own and says how it is started there. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { filled, type GalleryServer } from './gallery.ts'

const run = promisify(execFile)
const INSTALL_MS = 600_000

export interface Installed {
  command: string
  args: string[]
  env: Record<string, string>
  /** Calls with their values filled in. */
  calls: Array<{ tool: string; arguments: Record<string, unknown> }>
}

type Start = Pick<Installed, 'command' | 'args'>

/** A sentence where a tool for it is missing on this machine. */
export async function install(server: GalleryServer, folder: string): Promise<Installed | string> {
  const work = join(folder, server.id)
  mkdirSync(work, { recursive: true })
  for (const [name, text] of Object.entries(server.prove?.files ?? {})) writeFileSync(join(work, name), text)
  const started = await start(server, work)
  if (typeof started === 'string') return started
  const values = { folder: work }
  const allValues = { ...values, ...mapped(server.prove?.values ?? {}, values) }
  const secrets = (server.env ?? []).map(({ name }) => [name, 'prove-0123456789abcdef'] as const)
  return {
    command: started.command,
    args: [...started.args, ...(server.args ?? []).map((arg) => filled(arg, allValues))],
    env: { ...Object.fromEntries(secrets), ...mapped(server.prove?.env ?? {}, allValues) },
    calls: (server.prove?.calls ?? []).map((call) => JSON.parse(filled(JSON.stringify(call), allValues))),
  }
}

const mapped = (record: Record<string, string>, values: Record<string, string>) =>
  Object.fromEntries(Object.entries(record).map(([key, text]) => [key, filled(text, values)]))

async function start({ package: pinned }: GalleryServer, work: string): Promise<Start | string> {
  if (pinned.type === 'npm') return npm(`${pinned.name}@${pinned.version}`, pinned.name, work)
  if (pinned.type === 'pypi') return python(pinned, work)
  return binary(pinned, work)
}

async function python({ name, version }: GalleryServer['package'], work: string): Promise<Start | string> {
  if (!(await exists('uv'))) return 'not run: `uv` is not on this machine'
  const command = join(work, '.venv', 'bin', name)
  if (!existsSync(command)) {
    await run('uv', ['venv', '--quiet', '--allow-existing', '.venv'], { cwd: work, timeout: INSTALL_MS })
    const args = ['pip', 'install', '--quiet', '--python', join(work, '.venv'), `${name}==${version}`]
    await run('uv', args, { cwd: work, timeout: INSTALL_MS })
  }
  return { command, args: [] }
}

async function binary({ name, version, module }: GalleryServer['package'], work: string): Promise<Start | string> {
  if (module === undefined)
    return (await exists(name)) ? { command: name, args: [] } : `not run: \`${name}\` is not on this machine`
  if (!(await exists('go'))) return 'not run: `go` is not on this machine'
  const command = join(work, name)
  if (!existsSync(command)) {
    const env = { ...process.env, GOBIN: work, GOFLAGS: '-p=1' }
    await run('go', ['install', `${module}@v${version}`], { cwd: work, timeout: INSTALL_MS, env })
    renameSync(join(work, basename(module)), command)
  }
  return { command, args: [] }
}

async function npm(spec: string, name: string, work: string): Promise<Start> {
  const home = join(work, 'node_modules', name)
  if (!existsSync(join(work, 'package.json'))) writeFileSync(join(work, 'package.json'), '{ "private": true }\n')
  if (!existsSync(home)) {
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', spec]
    await run('npm', args, { cwd: work, timeout: INSTALL_MS, env: { ...process.env, PUPPETEER_SKIP_DOWNLOAD: '1' } })
  }
  const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>
  }
  const file = typeof bin === 'string' ? bin : Object.values(bin)[0]
  return { command: process.execPath, args: [join(home, file ?? '')] }
}

async function exists(command: string): Promise<boolean> {
  return run('which', [command]).then(
    () => true,
    () => false,
  )
}
