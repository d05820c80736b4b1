/**
 * Compares this checkout with another one: `node bench/against.ts <folder>`. One child process each, in interleaved rounds; a call
 * through the whole pipeline, a loadout of 2,000 tools, a selection for a prompt, and a call over HTTP. Prints medians and ratios.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startCountingServer } from '../test/counting-server.ts'

const ROUNDS = 31
const TASKS = { call: 400, loadout: 60, select: 30, http: 150 } as const
type Task = keyof typeof TASKS

const other = process.argv[2]
if (other === undefined || !existsSync(join(other, 'packages/loadout/src'))) {
  console.error('Name the folder of another checkout with its node_modules.')
  process.exit(1)
}

const server = await startCountingServer('remote', [{ name: 'echo', annotations: { readOnlyHint: true } }])
const start = (root: string) =>
  fork(join(import.meta.dirname, 'against-child.ts'), [root, server.url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
const ask = (child: ChildProcess, task: Task): Promise<number> =>
  new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('The child process ended.'))
    child.once('exit', onExit)
    child.once('message', (ms) => {
      child.off('exit', onExit)
      resolve(Number(ms))
    })
    child.send({ task, count: TASKS[task] })
  })
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const children = { before: start(other), now: start(join(import.meta.dirname, '..')) }
const rows = []
for (const task of Object.keys(TASKS) as Task[]) {
  const times = { before: [] as number[], now: [] as number[] }
  for (let round = 0; round < ROUNDS; round++)
    for (const side of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
      const ms = await ask(children[side], task)
      // The first rounds compile.
      if (round >= 5) times[side].push(ms / TASKS[task])
    }
  const before = median(times.before)
  const now = median(times.now)
  rows.push({
    task,
    'before, µs': Math.round(before * 1000),
    'now, µs': Math.round(now * 1000),
    ratio: (now / before).toFixed(3),
  })
}
console.table(rows)
for (const child of Object.values(children)) child.disconnect()
await server.close()
