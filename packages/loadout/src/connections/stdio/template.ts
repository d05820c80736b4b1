/**
 * Fills a command template with a user's values. A value fills its hole only: it cannot add an argument, a flag,
 * another program, or a path outside the allowed folders. Errors name the hole and never the value, because the value
 * may be a secret.
 */
import { HostError } from '../../errors.ts'
import type { StdioServer } from '../../schema/toolkit/server.ts'
import { fillHoles, holesIn, type StdioTemplate, type TemplateHole } from '../../schema/toolkit/stdio-template.ts'

/** A command line that can be started. */
export interface CommandLine {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
  hosts?: readonly string[] | undefined
}

/** Resolves symbolic links, also if the end of the path does not exist yet. */
export type RealPath = (path: string) => Promise<string>

type Values = Readonly<Record<string, string>>

export async function fillTemplate(template: StdioTemplate, values: Values, realPath: RealPath): Promise<CommandLine> {
  const { id, holes } = template
  for (const name of Object.keys(values))
    if (!Object.hasOwn(holes, name)) throw refused(id, `has no hole "${sanitizeName(name)}"`)
  for (const [name, hole] of Object.entries(holes)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) throw refused(id, `needs a value for "${name}"`)
    const problem = problemOf(hole, value) ?? (await problemOfPath(hole, value, realPath))
    if (problem !== undefined) throw refused(id, `does not take this value for "${name}": it ${problem}`)
  }
  const fill = (text: string) => fillHoles(text, (hole) => values[hole] as string)
  const args = template.args.map((arg) => {
    const filled = fill(arg)
    const [first = ''] = holesIn(arg)
    if (filled.startsWith('-') && !arg.startsWith('-') && !mayBeginWithDash(holes[first]))
      throw refused(id, `does not take this value for "${first}": it would be a flag`)
    return filled
  })
  const env = Object.fromEntries(Object.entries(template.env).map(([name, value]) => [name, fill(value)]))
  return { command: template.command, args, env, cwd: template.cwd, hosts: template.hosts }
}

/** Only values that the operator listed, and negative numbers, may start with a dash. */
function mayBeginWithDash(hole: TemplateHole | undefined): boolean {
  return hole?.type === 'enum' || (hole?.type === 'integer' && (hole.min ?? 0) < 0)
}

/** Values with which the template equals this record; undefined if there are none. */
export function matchTemplate(template: StdioTemplate, server: StdioServer): Values | undefined {
  const { command, args, env, cwd } = server
  if (command !== template.command || cwd !== template.cwd || args.length !== template.args.length) return undefined
  const names = Object.keys(template.env)
  if (Object.keys(env).length !== names.length || !names.every((name) => Object.hasOwn(env, name))) return undefined
  const values: Record<string, string> = {}
  const matchesPattern = (pattern: string, text: string) =>
    Object.entries(valuesIn(pattern, text) ?? { '': '' }).every(([hole, value]) => {
      const before = Object.hasOwn(values, hole) ? values[hole] : value
      values[hole] = value
      return hole !== '' && before === value
    })
  const isMatch =
    args.every((arg, index) => matchesPattern(template.args[index] as string, arg)) &&
    names.every((name) => matchesPattern(template.env[name] as string, env[name] as string))
  return isMatch ? values : undefined
}

/** Undefined if the text does not match the pattern, or matches it in several ways. */
function valuesIn(pattern: string, text: string): Values | undefined {
  const holes = holesIn(pattern)
  if (holes.length === 0) return pattern === text ? {} : undefined
  // Two holes in one text are ambiguous, so such a template only works by name.
  if (holes.length > 1) return undefined
  const [hole] = holes as [string]
  const [before = '', after = ''] = pattern.split(`{${hole}}`)
  const inside = text.slice(before.length, text.length - after.length)
  return before + inside + after === text ? { [hole]: inside } : undefined
}

const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}]+$/u

function problemOf(hole: TemplateHole, value: string): string | undefined {
  if (!PRINTABLE.test(value)) return 'is empty or holds control characters'
  switch (hole.type) {
    case 'string':
      return tooLong(hole, value) ?? unlike(hole.pattern, value)
    case 'path':
      return tooLong(hole, value) ?? outside(hole.roots, value)
    case 'url':
      return tooLong(hole, value) ?? unlike(hole.pattern, value) ?? notUrl(value)
    case 'integer':
      return notInteger(hole, value)
    case 'enum':
      return hole.values.includes(value) ? undefined : 'is none of the prepared ones'
  }
}

const tooLong = ({ maxLength }: { maxLength: number }, value: string) =>
  value.length > maxLength ? `is longer than ${maxLength} characters` : undefined

const unlike = (pattern: string | undefined, value: string) =>
  pattern === undefined || new RegExp(`^(?:${pattern})$`, 'u').test(value) ? undefined : 'does not have the right form'

function notUrl(value: string): string | undefined {
  const url = /\s/.test(value) ? null : URL.parse(value)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'is not an http or https URL'
  return url.username || url.password ? 'has a user name or password in it' : undefined
}

function notInteger({ min, max }: { min?: number | undefined; max?: number | undefined }, value: string) {
  if (!/^(0|-?[1-9]\d{0,14})$/.test(value)) return 'is not a whole number'
  const number = Number(value)
  return number < (min ?? number) || number > (max ?? number) ? 'is out of range' : undefined
}

function outside(roots: readonly string[], path: string): string | undefined {
  if (!path.startsWith('/')) return 'is not an absolute path'
  if (path.split('/').some((part) => part === '..' || part === '.')) return 'has "." or ".." in it'
  return roots.some((root) => isWithin(root, path)) ? undefined : 'is outside the folders that are allowed'
}

// A path inside an allowed folder may contain a link that leads outside.
async function problemOfPath(hole: TemplateHole, value: string, realPath: RealPath): Promise<string | undefined> {
  if (hole.type !== 'path') return undefined
  const [real, ...roots] = await Promise.all([value, ...hole.roots].map(realPath))
  return roots.some((root) => isWithin(root, real as string)) ? undefined : 'leads outside the folders that are allowed'
}

function isWithin(root: string, path: string): boolean {
  const base = root.replace(/\/+$/, '')
  return path === base || path.startsWith(`${base}/`)
}

const sanitizeName = (name: string) => name.replace(/[^\w.-]/g, '?').slice(0, 64)

function refused(id: string, problem: string): HostError {
  return new HostError('stdio-refused', {
    detail: `The template "${id}" ${problem}.`,
    action: 'Give the values that the template asks for, or ask the operator for another one.',
  })
}
