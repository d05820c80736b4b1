/**
 * Where the process of a program begins. The program is in a thread of it, as it would be in a thread of the host: so this
 * side is always free to hear, and to say what the thread computes. Lines of JSON are its only way to anybody.
 */
import { readFileSync } from 'node:fs'
import { DEFAULT_LIMITS, memoryClass } from '../sandbox/limits.ts'
import { readLines } from '../sandbox/lines.ts'
import type { FromProcess, ToProcess } from '../sandbox/protocol.ts'
import { openThread } from '../sandbox/thread.ts'
import { boundedBinary } from './patch-wasm.ts'

const say = (message: FromProcess) => process.stdout.write(`${JSON.stringify(message)}\n`)

const wasm = readFileSync(process.argv[2] ?? '')
const module = await WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_LIMITS.memoryBytes)))
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
  // The host may say what it likes; how large an answer is it has looked at.
  Number.POSITIVE_INFINITY,
)
process.stdin.on('data', (chunk: Buffer) => lines.take(chunk)).on('close', () => process.exit(0))
say({ type: 'ready', threadMs: box.readyMs() })
