/**
 * `npm run test:stress`: the whole suite three times in random file order: alone, beside two busy loops, and beside a process
 * that writes to the disk. Prints each test that did not pass all three times. Arguments go to Vitest.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBubblewrap } from './bubblewrap.ts'
import { ensureChromium } from './chromium.ts'
import { closingLine, commandFor, isGood, runTests, type TestRun } from './run-tests.ts'
import { buildWeb, isStale } from './start.ts'
import { fail } from './step.ts'

const BUSY = 'for (;;) Math.sqrt(Math.random())'
const WRITES = `
const { openSync, writeSync, fsyncSync, closeSync } = require('node:fs')
const block = Buffer.alloc(1 << 20, 7)
for (;;) {
  const file = openSync(process.argv[1], 'w')
  for (let n = 0; n < 64; n++) writeSync(file, block)
  fsyncSync(file)
  closeSync(file)
}`

type Load = 'no load' | 'two busy loops' | 'a disk-heavy process'
export type StressRun = readonly [load: Load, run: TestRun]

/** Each test that failed or needed a retry, with the loads under which it did. */
export function findFlakes(runs: readonly StressRun[]): string[] {
  const loads = new Map<string, string[]>()
  for (const [load, { failed, retried }] of runs)
    for (const test of [...failed, ...retried]) {
      const line = `✗ ${test.title}\n  ${test.file}\n  Run it alone: ${commandFor(test)}`
      loads.set(line, [...(loads.get(line) ?? []), load])
    }
  return [...loads].map(([line, under]) => `${line}\n  Did not pass with: ${under.join(', ')}`)
}

function startLoad(load: Load, folder: string): ChildProcess[] {
  const node = (program: string, ...args: string[]) =>
    spawn(process.execPath, ['-e', program, ...args], { stdio: 'ignore' })
  if (load === 'two busy loops') return [node(BUSY), node(BUSY)]
  return load === 'a disk-heavy process' ? [node(WRITES, join(folder, 'written'))] : []
}

function runUnder(load: Load, args: readonly string[]): StressRun {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-stress-'))
  const children = startLoad(load, folder)
  const seed = Math.floor(Math.random() * 1_000_000)
  console.log(`\n▸ tests with ${load}, file order ${seed}`)
  try {
    return [load, runTests(['--sequence.shuffle.files', `--sequence.seed=${seed}`, ...args])]
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  ensureChromium()
  ensureBubblewrap()
  if (isStale()) buildWeb()
  const args = process.argv.slice(2)
  const runs = (['no load', 'two busy loops', 'a disk-heavy process'] as const).map((load) => runUnder(load, args))
  for (const flake of findFlakes(runs)) console.log(`\n${flake}`)
  for (const [load, run] of runs) console.log(`\n${load}: ${closingLine(run)}`)
  const good = runs.filter(([, run]) => isGood(run) && run.retried.length === 0).length
  console.log(`\n${good} of ${runs.length} runs passed`)
  if (good < runs.length) fail('The suite depends on the load of the machine')
}
