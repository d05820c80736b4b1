/**
 * Decides whether and how a command may run, for every caller: calls, introspection, import, discover, ephemeral
 * toolkits. It fails closed: anything not explicitly allowed is refused, and a missing sandbox is a refusal, never a
 * fallback.
 */
import { HostError } from '../../errors.ts'
import type { Tier } from '../../schema/scope.ts'
import type { StdioServer } from '../../schema/toolkit/server.ts'
import type { StdioTemplate } from '../../schema/toolkit/stdio-template.ts'
import { type CommandLine, fillTemplate, matchTemplate, type RealPath } from './template.ts'

/** Which stdio servers users may run (SPEC 4.3). */
export type StdioPolicy = 'off' | 'templates' | 'sandbox' | 'on'

export interface StdioRules {
  policy: StdioPolicy
  /** The operator's templates. @default none */
  templates?: readonly StdioTemplate[] | undefined
  /** Resolves symbolic links in template paths. Without it such paths are refused. */
  realPath?: RealPath | undefined
}

export interface Permit {
  /** Whether the command must run in the sandbox. */
  sandboxed: boolean
  line: CommandLine
}

/** Throws `stdio-refused` unless the command may run. App-tier commands are always allowed. */
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

/** Accepts a template name, or a command line that exactly matches a filled template. */
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
