/**
 * Parses command lines that download and run a package: `npx`, `npm exec`, `uvx`, `uv tool run`. It accepts a package
 * name with an optional version and a few neutral flags; anything that downloads from elsewhere or runs a shell is
 * refused.
 */
import { HostError } from '../../../errors.ts'
import type { CommandLine } from '../../stdio/template.ts'

export interface PackageRun {
  from: 'npm' | 'pypi'
  /** Package as the registry names it, with the requested version. */
  spec: string
  name: string
  /** Program of the package, if named. */
  program: string | undefined
  args: readonly string[]
}

const NPM_SPEC = /^((?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)(?:@([\w.^~+-]+))?$/i
const PYPI_SPEC = /^([a-z0-9][\w.-]*)(\[[\w.,-]+\])?(?:(?:@|==)([\w.+!-]+))?$/i
const PROGRAM = /^[\w][\w.-]*$/
const SILENT_FLAGS = new Set(['-y', '--yes', '-q', '--quiet'])

/** Returns undefined for any other command. */
export function readPackageRun({ command, args }: CommandLine): PackageRun | undefined {
  const words = [command.replace(/^\/usr\/(local\/)?bin\//, ''), ...args]
  const prefix = RUNNERS.find(({ words: prefixWords }) => prefixWords.every((word, index) => words[index] === word))
  if (!prefix) return undefined
  const { spec, rest } = readFlags(words.slice(prefix.words.length), prefix.package)
  return prefix.from === 'npm' ? npmRun(spec, rest) : pypiRun(spec, rest)
}

interface Runner {
  words: readonly string[]
  from: PackageRun['from']
  /** Flags that name the package if the program has another name. */
  package: readonly string[]
}

const NPM_PACKAGE = ['-p', '--package']
const RUNNERS: readonly Runner[] = [
  { words: ['npx'], from: 'npm', package: NPM_PACKAGE },
  { words: ['npm', 'exec'], from: 'npm', package: NPM_PACKAGE },
  { words: ['npm', 'x'], from: 'npm', package: NPM_PACKAGE },
  { words: ['uvx'], from: 'pypi', package: ['--from'] },
  { words: ['uv', 'tool', 'run'], from: 'pypi', package: ['--from'] },
]

function readFlags(words: readonly string[], packageFlags: readonly string[]) {
  let spec: string | undefined
  let at = 0
  for (; at < words.length; at++) {
    const word = words[at] as string
    const [flag = '', value] = word.split(/=(.*)/s)
    if (word === '--') {
      at++
      break
    }
    if (SILENT_FLAGS.has(word)) continue
    if (packageFlags.includes(flag)) {
      if (spec !== undefined) throw refused('Only one package can be fetched.')
      spec = value ?? words[++at]
    } else if (word.startsWith('-')) throw refused(`The flag "${printable(flag)}" is not possible in a sandbox.`)
    else break
  }
  return { spec, rest: words.slice(at) }
}

function npmRun(packageSpec: string | undefined, rest: readonly string[]): PackageRun {
  const { spec, program, args } = splitCommand(packageSpec, rest)
  const [, name, version] = NPM_SPEC.exec(spec) ?? []
  if (name === undefined)
    throw refused(`"${printable(spec)}" is not the name of an npm package, with its version at most.`)
  return { from: 'npm', spec: version === undefined ? name : `${name}@${version}`, name, program, args }
}

function pypiRun(packageSpec: string | undefined, rest: readonly string[]): PackageRun {
  const { spec, program, args } = splitCommand(packageSpec, rest)
  const [, name, extras = '', version] = PYPI_SPEC.exec(spec) ?? []
  if (name === undefined) throw refused(`"${printable(spec)}" is not the name of a package, with its version at most.`)
  const pinned = version === undefined || version === 'latest' ? '' : `==${version}`
  return { from: 'pypi', spec: name + extras + pinned, name, program: program ?? name, args }
}

function splitCommand(packageSpec: string | undefined, [first, ...rest]: readonly string[]) {
  if (first === undefined) throw refused('The command names no package.')
  if (packageSpec === undefined) return { spec: first, program: undefined, args: rest }
  if (!PROGRAM.test(first)) throw refused(`"${printable(first)}" is not the name of a program.`)
  return { spec: packageSpec, program: first, args: rest }
}

const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)

function refused(detail: string): HostError {
  return new HostError('stdio-refused', {
    detail,
    action: 'Name the package as `npx -y name@version` or `uvx name@version`, or use a remote server (a URL).',
  })
}
