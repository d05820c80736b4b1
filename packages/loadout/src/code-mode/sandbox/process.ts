/**
 * Sandbox in its own process for one program: an escape from the engine ends in a Node process that may read only our
 * code and start nothing, or, with bubblewrap, sees nothing of the host. The process is killed after the program. Every
 * message is a validated line of JSON.
 */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { createLauncher, type Launcher } from '../../connections/sandbox/launch.ts'
import { DEFAULT_PROCESS_LIMITS, type SandboxLimits } from '../../connections/sandbox/limits.ts'
import { NODE } from '../../connections/sandbox/profile.ts'
import { createProcessGroups, type ProcessGroup, type ProcessSpec } from '../../connections/stdio/process-group.ts'
import { PROGRAM_ERRORS } from '../executor.ts'
import { SandboxClosedError, type SandboxHandle, type SandboxListener } from './handle.ts'
import { type Lines, readLines } from './lines.ts'
import type { FromProcess, ToProcess } from './protocol.ts'

export interface ProcessOptions {
  /** Wraps the process in bubblewrap. */
  bubblewrap: boolean
  wasmFile: string
}

export interface Processes {
  open(): Promise<SandboxHandle>
  close(): Promise<void>
}

const ENTRY = fileURLToPath(new URL('../guest/process-entry.ts', import.meta.url))
/** `code-mode/`: the entry imports only files of this folder. */
const CODE = dirname(dirname(ENTRY))
/** Path of our code inside the sandbox. */
const INSIDE = '/opt/loadout/programs'
const HEAP_MIB = 128
const LIMITS: Required<SandboxLimits> = {
  ...DEFAULT_PROCESS_LIMITS,
  memoryBytes: 768 * 1024 * 1024,
  // WebAssembly reserves 10 GB of address space per memory, but uses only up to its maximum.
  processBytes: 16 * 1024 ** 3,
  processes: 64,
  fileBytes: 1024 * 1024,
  scratchBytes: 1024 * 1024,
}
const MAX_WORDS = 400

const text = z.string()
const line = z.object({ level: z.enum(['log', 'info', 'warn', 'error', 'debug']), text })
const call = z.object({ seq: z.int().min(0), object: text, name: text, arguments: text })
const turn = z.object({
  calls: z.array(call),
  logs: z.array(line),
  read: z.int().min(0),
  cpuMs: z.number().min(0),
  memoryBytes: z.number().min(0),
})
const failed = z.object({ code: z.enum(PROGRAM_ERRORS), message: text, stack: text.optional() })
const fromProcess = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), threadMs: z.number().optional() }),
  z.object({ type: z.literal('thread'), ms: z.number().optional() }),
  z.object({ type: z.literal('turn'), turn }),
  z.object({
    type: z.literal('ended'),
    ended: z.union([z.object({ value: text }), z.object({ error: failed })]),
    turn,
  }),
]) satisfies z.ZodType<FromProcess>

export function createProcesses({ bubblewrap, wasmFile }: ProcessOptions): Processes {
  const groups = createProcessGroups()
  const launcher = bubblewrap ? createLauncher(groups) : undefined
  return {
    async open() {
      const group = await groups.start(launcher ? await confined(launcher, wasmFile) : plain(wasmFile))
      return openBox(group)
    },
    async close() {
      await groups.close()
      await launcher?.close()
    },
  }
}

/** Node permissions: no other files, processes, add-ons or inspector. */
const nodeArgs = (folder: string, wasm: string) => [
  '--permission',
  '--allow-worker',
  `--allow-fs-read=${folder}/*`,
  `--allow-fs-read=${wasm}`,
  `--max-old-space-size=${HEAP_MIB}`,
  '--no-warnings',
]

function plain(wasmFile: string): ProcessSpec {
  return { command: process.execPath, args: [...nodeArgs(CODE, wasmFile), ENTRY, wasmFile], env: {}, cwd: CODE }
}

async function confined(launcher: Launcher, wasmFile: string): Promise<ProcessSpec> {
  const folder = join(INSIDE, 'code-mode')
  const wasm = join(INSIDE, 'quickjs.wasm')
  const entry = join(folder, ENTRY.slice(CODE.length + 1))
  const binds = [
    { from: realpathSync(CODE), to: folder },
    { from: realpathSync(wasmFile), to: wasm },
  ]
  const args = [...nodeArgs(folder, wasm), entry, wasm]
  return launcher.compose({ command: NODE, args, env: {} }, { guard: {}, limits: LIMITS, binds })
}

function openBox({ child }: ProcessGroup): Promise<SandboxHandle> {
  let listener: SandboxListener | undefined
  let errorOutput = ''
  let ended = false
  const state = { readyMs: undefined as number | undefined, threadWaiters: [] as ((ms: number | undefined) => void)[] }
  const lost = (why: string) => {
    if (ended) return
    ended = true
    child.kill('SIGKILL')
    listener?.lost(why)
  }
  const receive = (text: string) => {
    const message = readMessage(text)
    if (!message) return lost('The sandbox said something that is not of its language.')
    if (message.type === 'thread') return state.threadWaiters.shift()?.(message.ms)
    if (message.type === 'ready') state.readyMs = message.threadMs
    if (!ended) listener?.message(message)
  }
  const lines: Lines = readLines(receive, () => lost('The sandbox said more than it may at once.'))
  child.stdout?.on('data', (chunk: Buffer) => lines.take(chunk))
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk}`.slice(-10 * MAX_WORDS)
  })
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
  child.once('exit', () =>
    lost(`The sandbox died. ${errorOutput.match(/^.*Error.*$/m)?.[0] ?? errorOutput}`.trim().slice(0, MAX_WORDS)),
  )

  const send = (message: ToProcess) => void child.stdin?.write(`${JSON.stringify(message)}\n`)
  const box: SandboxHandle = {
    send,
    listen(next) {
      listener = next
    },
    threadMs() {
      send({ type: 'thread' })
      return new Promise((resolve) => state.threadWaiters.push(resolve))
    },
    readyMs: () => state.readyMs,
    hold(on) {
      for (const stream of [child, child.stdin, child.stdout, child.stderr] as unknown as Holdable[])
        stream[on ? 'ref' : 'unref']?.()
    },
    async end() {
      ended = true
      child.kill('SIGKILL')
    },
  }
  return new Promise((resolve, reject) => {
    box.listen({
      message: ({ type }) => {
        if (type === 'ready') resolve(box)
      },
      lost: (why) => reject(new SandboxClosedError(why)),
    })
  })
}

interface Holdable {
  ref?(): void
  unref?(): void
}

function readMessage(text: string): FromProcess | undefined {
  try {
    return fromProcess.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
