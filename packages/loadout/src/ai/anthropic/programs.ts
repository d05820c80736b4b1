/**
 * Provider-run programs of Anthropic: allowed callers, programs in a message, and their container. The provider runs
 * the program; its calls arrive as `tool_use` with a `caller`.
 */
import { z } from 'zod'
import type { ProviderProgram } from '../../schema/records/program.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { programOf } from '../model-call.ts'
import { anthropicOptions } from '../provider-options.ts'

export type AnthropicCodeVersion = 'code_execution_20250825' | 'code_execution_20260120' | 'code_execution_20260521'
export type AnthropicCaller = 'direct' | AnthropicCodeVersion

export interface AnthropicCodeTool {
  type: AnthropicCodeVersion
  name: 'code_execution'
}

/** `tool_choice` of the request. */
export interface AnthropicToolChoice {
  type: string
  disable_parallel_tool_use?: boolean | undefined
}

/** Set by the tool's `providerOptions`. */
const isStrict = (entry: LoadoutEntry) => anthropicOptions(entry).strict === true

/** Allowed callers, when they are not only the model. */
export function anthropicCallers(
  entry: LoadoutEntry,
  version: AnthropicCodeVersion | undefined,
): { allowed_callers?: AnthropicCaller[] } {
  if (version === undefined || !entry.allowedCallers.includes('code') || isStrict(entry)) return {}
  return { allowed_callers: entry.allowedCallers.map((caller) => (caller === 'code' ? version : caller)) }
}

const MAX_NAMES = 5

/** Settings that the provider does not support together with programs. */
export function programWarnings(entries: readonly LoadoutEntry[], choice: AnthropicToolChoice | undefined): string[] {
  const strict = entries.filter((entry) => entry.allowedCallers.includes('code') && isStrict(entry))
  const names = strict.slice(0, MAX_NAMES).map(({ modelName }) => modelName)
  return [
    ...(strict.length > 0
      ? [
          `Anthropic's programs call no strict tools: ${strict.length} may be called directly only (${names.join(', ')}${strict.length > MAX_NAMES ? ', …' : ''}). Leave "strict" away, or "code" out of allowedCallers.`,
        ]
      : []),
    ...(choice?.type === 'tool'
      ? ['Anthropic: a tool_choice that names a tool is a direct call; no program makes it. Use "auto".']
      : []),
    ...(choice?.disable_parallel_tool_use === true
      ? ['Anthropic takes no disable_parallel_tool_use where programs call tools. Leave it away.']
      : []),
  ]
}

const startBlock = z.looseObject({
  type: z.literal('server_tool_use'),
  name: z.literal('code_execution'),
  id: z.string().min(1).max(500),
  input: z.looseObject({ code: z.string() }).optional().catch(undefined),
})
const endBlock = z.looseObject({
  type: z.literal('code_execution_tool_result'),
  tool_use_id: z.string().min(1).max(500),
  content: z.looseObject({
    type: z.string(),
    return_code: z.number().optional(),
    stdout: z.string().optional(),
    stderr: z.string().optional(),
    error_code: z.string().optional(),
  }),
})

/** Programs in a message; one that only ends here started in an earlier message. */
export function programsIn(content: readonly unknown[]): ProviderProgram[] {
  const programs = new Map<string, ProviderProgram>()
  for (const block of content) {
    const startItem = startBlock.safeParse(block)
    if (startItem.success) {
      const { id, input } = startItem.data
      programs.set(id, programOf({ provider: 'anthropic', id, code: input?.code, status: 'running' }))
    }
    const endItem = endBlock.safeParse(block)
    if (!endItem.success) continue
    const { tool_use_id: id, content: result } = endItem.data
    programs.set(id, programOf({ ...programs.get(id), provider: 'anthropic', id, ...endOf(result) }))
  }
  return [...programs.values()]
}

function endOf({
  return_code,
  stdout,
  stderr,
  error_code,
}: z.infer<typeof endBlock>['content']): Pick<ProviderProgram, 'status' | 'output' | 'error'> {
  if (return_code === 0) return { status: 'completed', output: stdout }
  return { status: 'failed', output: stdout, error: error_code ?? (stderr || `It ended with ${return_code}.`) }
}

const inMessage = z.looseObject({
  container: z.looseObject({ id: z.string().min(1).max(500), expires_at: z.string().optional() }),
})

/** Container of the conversation's programs, to send back as `container`. */
export function containerIn(message: unknown): { id: string; expiresAt?: Date } | undefined {
  const read = inMessage.safeParse(message)
  if (!read.success) return undefined
  const { id, expires_at } = read.data.container
  const at = new Date(expires_at ?? '')
  return { id, ...(Number.isNaN(at.getTime()) ? {} : { expiresAt: at }) }
}
