/**
 * `npm run prove`: every `prove:` script with its full count, one after the other, then a table. With names, only those:
 * `npm run prove -- tenancy audit`.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fail } from './step.ts'

const PREFIX = 'prove:'

export interface Proof {
  readonly script: string
  readonly passed: boolean
  readonly seconds: number
}

/** The scripts to run, in the order of package.json. Throws where a name has no script. */
export function chooseProofs(scripts: Readonly<Record<string, string>>, names: readonly string[]): string[] {
  const all = Object.keys(scripts).filter((name) => name.startsWith(PREFIX))
  const unknown = names.filter((name) => !all.includes(PREFIX + name))
  if (unknown.length > 0)
    throw new Error(
      `No such proof: ${unknown.join(', ')}. Choose from ${all.map((name) => name.slice(PREFIX.length)).join(', ')}.`,
    )
  return names.length === 0 ? all : all.filter((name) => names.includes(name.slice(PREFIX.length)))
}

/** One row per proof, the failed ones marked. */
export function summarize(proofs: readonly Proof[]): string {
  const width = Math.max(...proofs.map(({ script }) => script.length))
  const rows = proofs.map(
    ({ script, passed, seconds }) =>
      `${passed ? '✓' : '✗'} ${script.padEnd(width)}  ${seconds.toFixed(0).padStart(5)} s`,
  )
  const passed = proofs.filter((proof) => proof.passed).length
  return [...rows, '', `${passed} passed, ${proofs.length - passed} failed`].join('\n')
}

function prove(script: string): Proof {
  console.log(`\n▸ ${script}`)
  const start = performance.now()
  const { status } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' })
  return { script, passed: status === 0, seconds: (performance.now() - start) / 1000 }
}

if (import.meta.main) {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const proofs = chooseProofs(scripts, process.argv.slice(2)).map(prove)
  console.log(`\n${summarize(proofs)}`)
  if (proofs.some(({ passed }) => !passed)) fail('Not everything is proven')
}
