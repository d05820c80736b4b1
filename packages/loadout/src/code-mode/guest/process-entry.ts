/**
 * Entry point of a program process. The program runs in a thread of it, so this side can always receive messages and
 * report CPU time. It communicates only in lines of JSON.
 */
import { readFileSync } from 'node:fs'
import { DEFAULT_PROGRAM_LIMITS, memoryClass } from '../sandbox/limits.ts'
import { readLines } from '../sandbox/lines.ts'
import type { FromProcess, ToProcess } from '../sandbox/protocol.ts'
import { openThread } from '../sandbox/thread.ts'
import { boundedBinary } from './patch-wasm.ts'

const say = (message: FromProcess) => process.stdout.write(`${JSON.stringify(message)}\n`)

const wasm = readFileSync(process.argv[2] ?? '')
const module = await WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_PROGRAM_LIMITS.memoryBytes)))
const box = await openThread({ wasm, module })
box.listen({ message: say, lost: () => process.exit(1) })
box.hold(true)
const lines = readLines(
  (line) => {
    const message = JSON.parse(line) as ToProcess
    if (message.type === 'thread') void box.threadMs().then((ms) => say({ type: 'thread', ms }))
    else box.send(message)
  },
  () => process.exit(1),
  // The host's messages need no limit: it checks reply sizes.
  Number.POSITIVE_INFINITY,
)
process.stdin.on('data', (chunk: Buffer) => lines.take(chunk)).on('close', () => process.exit(0))
say({ type: 'ready', threadMs: box.readyMs() })
