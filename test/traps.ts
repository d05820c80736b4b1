/** Makes every file and environment access of this process throw, and records the caller. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** What Node itself looks up in the environment whenever it starts a process. */
const OF_NODE = new Set<string | symbol>(['NODE_V8_COVERAGE'])
const OF_PROMISES = [
  'readFile',
  'writeFile',
  'appendFile',
  'open',
  'stat',
  'access',
  'mkdir',
  'rename',
  'copyFile',
] as const
const PLAIN = [
  'readFileSync',
  'writeFileSync',
  'appendFileSync',
  'openSync',
  'statSync',
  'existsSync',
  'mkdirSync',
  'readFile',
  'writeFile',
  'open',
  'createReadStream',
  'createWriteStream',
] as const

export interface Traps {
  /** What was touched, in its order. */
  touched: string[]
  /** As it was before. Many times are one. */
  lift(): void
}

export function setTraps(): Traps {
  const touched: string[] = []
  const trap = (name: string) => () => {
    touched.push(name)
    throw new Error(`trapped: ${name}`)
  }
  const environment = process.env
  const lift = [replace(fs.promises, OF_PROMISES, trap), replace(fs, PLAIN, trap)]
  syncBuiltinESMExports()
  const get = (_: unknown, name: string | symbol) => (OF_NODE.has(name) ? undefined : trap(`env ${String(name)}`)())
  process.env = new Proxy(environment, { get, has: get as never, ownKeys: trap('env') as never }) as NodeJS.ProcessEnv
  return {
    touched,
    lift() {
      process.env = environment
      for (const one of lift) one()
      syncBuiltinESMExports()
    },
  }
}

function replace(target: object, names: readonly string[], trap: (name: string) => () => never): () => void {
  const before = Object.fromEntries(names.map((name) => [name, (target as Record<string, unknown>)[name]]))
  Object.assign(target, Object.fromEntries(names.map((name) => [name, trap(name)])))
  return () => void Object.assign(target, before)
}
