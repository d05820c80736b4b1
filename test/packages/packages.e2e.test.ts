/** The packages as they are published: packed, installed in an empty folder, compiled, imported, and used in apps. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createEmptyDatabase } from '../database.ts'
import { copyPrepared } from '../prepare-pglite.ts'
import { ROOT } from '../program-path.ts'
import { driveApp, startNotes, startScriptedModel } from './drive-app.ts'
import { type Installed, installPackages, QUIET } from './install-packages.ts'

const run = promisify(execFile)
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name)
let installed: Installed
const started: ChildProcess[] = []
/** The tool's result, then the end of the model's answer, in the stream of a chat. */
const CHAT = /noted: milk[\s\S]*"finishReason":"stop"/

beforeAll(async () => {
  installed = await installPackages()
}, 600_000)
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  if (installed) rmSync(installed.folder, { recursive: true, force: true })
})

const inFolder = (file: string, args: string[], path = '.') =>
  run(file, args, { cwd: join(installed.folder, path) }).catch((error) => {
    throw new Error(`${file} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })

/** Starts a program in the folder and resolves when its output matches. */
async function start(args: string[], options: { path: string; env: Record<string, string>; says: RegExp }) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...options.env }
  const child = spawn(process.execPath, args, { cwd: join(installed.folder, options.path), env })
  started.push(child)
  let output = ''
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      const match = options.says.exec(output)
      if (match) resolve(match)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })
  return { found, output: () => output, end: () => child.kill('SIGKILL') }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('the tarballs', () => {
  it('contain JavaScript and declarations, and no source, test, source map or migration snapshot', async () => {
    for (const path of Object.values(installed.tarballs)) {
      const { stdout } = await run('tar', ['tzf', path])
      const files = stdout.split('\n').filter((file) => file !== '')
      expect(files.filter((file) => /(?<!\.d)\.ts$|\.map$|\.test\.|snapshot/.test(file))).toEqual([])
      for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'])
        expect(files).toContain(`package/${file}`)
    }
  })

  it.each(['@loadout/core', '@loadout/server', '@loadout/cli'])('%s passes publint', async (name) => {
    await inFolder(bin('publint'), ['--strict', installed.tarballs[name] as string])
  })

  it.each(['@loadout/core', '@loadout/server'])('the types of %s resolve in ES modules', async (name) => {
    await inFolder(bin('attw'), ['--profile', 'esm-only', '--quiet', installed.tarballs[name] as string])
  })
})

describe('an installed package', () => {
  it('finds every package that its files import among its dependencies', () => {
    for (const name of Object.keys(installed.tarballs)) {
      const folder = join(installed.folder, 'node_modules', name)
      const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const files = readdirSync(folder).filter((file) => /\.js$|\.d\.ts$/.test(file))
      const imported = files.flatMap((file) => {
        const text = readFileSync(join(folder, file), 'utf8')
        return [...text.matchAll(/(?:from|^import|import\()\s*["']((?:@[\w.-]+\/)?[\w.:-]+)[^"'\n]*["']/gm)].map(
          ([, path]) => path,
        )
      })
      const known = { ...dependencies, ...peerDependencies, [name]: '' }
      const unknown = new Set(imported.filter((path) => !isBuiltin(path ?? '') && !(path ?? '').startsWith('.')))
      expect([...unknown].filter((path) => !Object.hasOwn(known, path ?? ''))).toEqual([])
    }
  })

  const exampleOf = (path: string) => /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1] ?? ''

  it.each(['nodenext', 'bundler'])('compiles the examples of the README files under %s', async (resolution) => {
    const { folder } = installed
    writeFileSync(join(folder, 'readme.ts'), exampleOf('README.md'))
    writeFileSync(join(folder, 'server.ts'), exampleOf('apps/server/README.md'))
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
    const compilerOptions = {
      ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'], strict: true, noEmit: true },
      ...{ module, moduleResolution: resolution, skipLibCheck: true, types: ['node'] },
    }
    const project = `tsconfig.${resolution}.json`
    writeFileSync(join(folder, project), JSON.stringify({ compilerOptions, files: ['readme.ts', 'server.ts'] }))
    await inFolder(bin('tsc'), ['-p', project])
  })

  it.each(['nodenext', 'bundler'])('checks calls by the declared tools of an app under %s', async (resolution) => {
    const { folder } = installed
    const member = "'shop.refund': { input: { order: number }; output: { amount: number } }"
    const declared = `import '@loadout/core'\ndeclare module '@loadout/core' { interface ToolTypes { ${member} } }`
    writeFileSync(join(folder, 'tools.d.ts'), declared)
    writeFileSync(
      join(folder, 'typed.ts'),
      `import { createHost } from '@loadout/core'
       const outcome = await createHost().user('ann').call('shop.refund', { order: 7 })
       if (outcome.status === 'ok') outcome.structuredContent?.amount.toFixed()
       // @ts-expect-error
       await createHost().user('ann').call('shop.refund', { order: '7' })`,
    )
    const project = `tsconfig.${resolution}.json`
    const { compilerOptions } = JSON.parse(readFileSync(join(folder, project), 'utf8'))
    writeFileSync(join(folder, project), JSON.stringify({ compilerOptions, files: ['typed.ts', 'tools.d.ts'] }))
    await inFolder(bin('tsc'), ['-p', project])
  })

  it('runs the example of the README', async () => {
    await inFolder(process.execPath, ['readme.ts'])
  })

  it('loads every entry, and the tokenizer, parser and word vectors that are loaded late', async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'packages/loadout/package.json'), 'utf8'))
    const entries = Object.keys(exports).filter((entry) => !/package\.json|indexeddb|worker-guest/.test(entry))
    writeFileSync(
      join(installed.folder, 'use.ts'),
      `for (const entry of ${JSON.stringify(entries)}) await import('@loadout/core' + entry.slice(1))
       const { createHost, defineTool, rule } = await import('@loadout/core')
       const { nodeDrivers, wordVectors } = await import('@loadout/core/node')
       const { quickjs } = await import('@loadout/core/code-mode/quickjs')
       const add = defineTool({ name: 'add', description: 'Adds a note to a file.', execute: () => 'added' })
       for (const isolation of ['thread', 'process'] as const) {
         const host = createHost({ policy: { rules: [rule('*', 'allow')] }, toolkits: { tools: [add] }, drivers: nodeDrivers(), executor: quickjs({ isolation }), search: { vectors: wordVectors } })
         const ann = host.user('ann')
         const { strategy } = await ann.search('write a note')
         const run = await ann.thread('notes').run('return await app.add({}) as string')
         console.log(strategy, JSON.stringify(run))
         await host.close()
       }`,
    )
    const { stdout } = await inFolder(process.execPath, ['use.ts'])
    expect(stdout).toContain('hybrid')
    expect(stdout.split('\n').filter((line) => line.includes('added'))).toHaveLength(2)
  })

  it('installs, compiles and runs beside the AI SDK 6', async () => {
    const path = 'ai-sdk-6'
    const folder = join(installed.folder, path)
    mkdirSync(folder)
    const dependencies = { '@loadout/core': `file:${installed.tarballs['@loadout/core']}`, ai: '^6.0.0' }
    const openai = { '@ai-sdk/openai': '^3.0.0' }
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ type: 'module', dependencies: { ...dependencies, ...openai } }),
    )
    await inFolder('npm', ['install', ...QUIET], path)
    const model = await startScriptedModel()
    writeFileSync(
      join(folder, 'app.ts'),
      `import { createOpenAI } from '@ai-sdk/openai'
       import { createHost, defineTool, rule } from '@loadout/core'
       import { toAI } from '@loadout/core/ai'
       import { generateText, stepCountIs } from 'ai'
       const add = defineTool({ name: 'add', execute: ({ text }) => \`noted: \${text}\` })
       const host = createHost({ policy: [rule('*', 'ask')] })
       await host.toolkits.add({ name: 'notes', tools: [add] })
       const ann = host.user('ann')
       const selection = await ann.thread('t').select({ prompt: 'Note that I need milk.' })
       const form = toAI(selection, { onPending: (_, { id }) => void ann.approvals.allow(id) })
       const model = createOpenAI({ apiKey: 'key', baseURL: '${model.baseUrl.openai}' }).chat('gpt-5.6')
       const { text } = await generateText({ model, prompt: 'Note that I need milk.', stopWhen: stepCountIs(5), ...form })
       console.log(text)
       await host.close()`,
    )
    const compilerOptions = { target: 'es2024', strict: true, noEmit: true, module: 'nodenext', skipLibCheck: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    await inFolder(bin('tsc'), ['-p', 'tsconfig.json'], path)
    const { stdout } = await inFolder(process.execPath, ['app.ts'], path)
    await model.close()
    expect(stdout).toContain('Milk is on the list.')
  })

  it('starts the product with its UI by the command line', async () => {
    const dataDir = join(installed.folder, 'data')
    await copyPrepared(dataDir)
    const env = { PORT: '0', LOADOUT_DATA_DIR: dataDir, LOG_LEVEL: 'silent' }
    const command = join(installed.folder, 'node_modules/@loadout/cli/loadout.js')
    const { found, end } = await start([command, 'start'], { path: '.', env, says: /Loadout is at (\S+)/ })
    const page = await (await fetch(`${found[1]}/connectors`)).text()
    const [, script = ''] = /<script type="module" crossorigin src="([^"]+)"/.exec(page) ?? []
    expect((await fetch(new URL(script, found[1]))).headers.get('content-type')).toContain('javascript')
    expect((await fetch(`${found[1]}/api/mcp`)).status).toBe(200)
    end()
  })
})

describe('an app with the installed packages', () => {
  const apiOf = async (port: number) => {
    const notes = await startNotes()
    const model = await startScriptedModel()
    const env = {
      PORT: String(port),
      PRIVATE_NETWORK: 'on',
      MODEL: 'anthropic:claude-opus-5-5',
      MODEL_URL: model.baseUrl.aiSdkAnthropic,
      TOKENS: '{"token-of-ann":"ann"}',
      SESSION_SECRET: 'a secret of the app',
    }
    const close = async () => {
      notes.close()
      await model.close()
    }
    return { notesUrl: notes.url, env, url: `http://127.0.0.1:${port}/tools`, done: () => model.done(), close }
  }

  it.each(['hono', 'express'])('%s adds a server, chats with a tool call and approves it', async (path) => {
    await inFolder(bin('tsc'), ['-p', path])
    const { notesUrl, env, url, done, close } = await apiOf(await freePort())
    const { end } = await start(['main.ts'], { path, env, says: /Listening/ })
    const headers = { authorization: 'Bearer token-of-ann' }
    expect((await fetch(`${url}/api/mcp`)).status).toBe(401)
    expect(await driveApp({ url, headers, notesUrl })).toMatch(CHAT)
    done()
    expect(await (await fetch(`${url}/threads`)).text()).toContain('<meta name="base-path" content="/tools"')
    expect(await (await fetch(new URL('/', url))).text()).toBe('The app itself.')
    end()
    await close()
  })

  it('Next.js builds, starts, adds a server, chats with a tool call and approves it', async () => {
    const handler = readFileSync(join(ROOT, 'examples/nextjs/lib/loadout.ts'), 'utf8')
    expect(handler.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
    const next = join(installed.folder, 'node_modules/next/dist/bin/next')
    await run(process.execPath, [next, 'build'], {
      cwd: join(installed.folder, 'nextjs'),
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
    }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    })
    const port = await freePort()
    const { notesUrl, env, url, done, close } = await apiOf(port)
    // The embedded migrations create the tables.
    const database = await createEmptyDatabase(inject('postgresUrl'))
    const secrets = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') }
    const server = await start([next, 'start', '-p', String(port)], {
      path: 'nextjs',
      env: { ...env, ...secrets, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
      says: /Ready/,
    })
    const cookie = `user=ann.${createHmac('sha256', env.SESSION_SECRET).update('ann').digest('hex')}`
    expect((await fetch(`${url}/api/mcp`)).status).toBe(401)
    expect(await driveApp({ url, headers: { cookie }, notesUrl })).toMatch(CHAT)
    done()
    // Compressed once: a client that accepts gzip reads the body.
    const listed = await fetch(`${url}/api/openapi.json`, { headers: { cookie, 'accept-encoding': 'gzip' } })
    expect([listed.headers.get('content-encoding'), (await listed.json()).openapi]).toEqual(['gzip', '3.1.0'])
    server.end()
    await close()
    await database.drop()
  })
})
