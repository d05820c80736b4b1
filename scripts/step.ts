/** Steps of a command. The command ends where one fails. */
import { spawn } from 'node:child_process'

/** Runs a step beside others, and prints its output once it has ended. */
export function step(name: string, command: string, args: readonly string[]): Promise<void> {
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
