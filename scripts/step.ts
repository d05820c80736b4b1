/** One step of a command: prints its name, runs it, and ends the command where it fails. */
import { spawn, spawnSync } from 'node:child_process'

export function step(name: string, command: string, args: readonly string[]): void {
  console.log(`\n▸ ${name}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) fail(`${name} failed`)
}

/** Runs a step beside others, and prints its output once it has ended. */
export function stepBeside(name: string, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += data
    })
  return new Promise((resolve) => {
    child.on('close', (code) => {
      console.log(`\n▸ ${name}`)
      if (output.trim() !== '') console.log(output.trimEnd())
      if (code !== 0) fail(`${name} failed`)
      resolve()
    })
  })
}

export function fail(message: string): never {
  console.error(`\n✗ ${message}`)
  process.exit(1)
}
