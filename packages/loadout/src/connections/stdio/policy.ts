/**
 * Whether a command may be run, and how: the one function for every door (a call, an introspection, an import, a look
 * without registering, a toolkit that an invocation carries). It is total and fails closed: what it does not allow by name
 * is refused, and a way of running that is not there is a refusal too, never a fallback to a weaker one.
 */
import { HostError } from '../../errors.ts'
import type { Tier } from '../../schema/scope.ts'
import type { StdioServer } from '../../schema/toolkit/server.ts'
import type { StdioTemplate } from '../../schema/toolkit/stdio-template.ts'
import { type CommandLine, fillTemplate, matchTemplate, type RealPath } from './template.ts'

/** Who may run stdio servers of their own (SPEC 4.3). */
export type StdioPolicy = 'off' | 'templates' | 'sandbox' | 'on'

export interface StdioRules {
  policy: StdioPolicy
  /** The operator's prepared command lines. @default none */
  templates?: readonly StdioTemplate[] | undefined
  /** Follows links, for templates with paths. Without it such paths are refused. */
  realPath?: RealPath | undefined
}

export interface Permit {
  /** Whether it is run only in the sandbox. */
  sandboxed: boolean
  line: CommandLine
}

/** How this record may be run, or `stdio-refused`. What the operator set up at the app tier is the operator's own word. */
export async function permitCommand(server: StdioServer, tier: Tier, rules: StdioRules): Promise<Permit> {
  const policy = tier === 'app' ? 'on' : rules.policy
  switch (policy) {
    case 'off':
      throw refused('The operator has switched off stdio servers.')
    case 'templates':
      return { sandboxed: false, line: await templateLine(server, rules) }
    case 'sandbox':
      return { sandboxed: true, line: await anyLine(server, rules) }
    case 'on':
      return { sandboxed: false, line: await anyLine(server, rules) }
    default:
      throw refused('The operator has set no policy for stdio servers that is known.')
  }
}

async function anyLine(server: StdioServer, rules: StdioRules): Promise<CommandLine> {
  if (server.template !== undefined) return namedLine(server.template, server, rules)
  const { command, args, env, cwd, hosts } = server
  if (command === undefined) throw refused('The record names no command.')
  return { command, args, env, cwd, hosts }
}

/** By the name of a template, or by being exactly what one of them is when it is filled. */
async function templateLine(server: StdioServer, rules: StdioRules): Promise<CommandLine> {
  if (server.template !== undefined) return namedLine(server.template, server, rules)
  for (const template of rules.templates ?? []) {
    const values = matchTemplate(template, server)
    if (values) return fillTemplate(template, values, rules.realPath ?? noPaths)
  }
  throw refused('The operator allows only prepared command lines, and this is not one of them.')
}

function namedLine(id: string, { values = {} }: StdioServer, { templates = [], realPath }: StdioRules) {
  const template = templates.find((candidate) => candidate.id === id)
  if (template) return fillTemplate(template, values, realPath ?? noPaths)
  const names = templates.map((template) => template.id).join(', ')
  throw refused(`There is no template "${id}"; there ${names === '' ? 'are none' : `is ${names}`}.`)
}

const noPaths: RealPath = () => {
  throw refused('This host cannot follow paths.')
}

function refused(detail: string): HostError {
  return new HostError('stdio-refused', { detail })
}
