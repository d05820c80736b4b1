/** Risk of a call from the tool's annotations. Annotations of untrusted servers are ignored. */
import type { Toolkit } from '../../lib/api.ts'

export type RiskLevel = 'reads' | 'changes' | 'destroys' | 'unknown' | 'asks'

export interface Risk {
  level: RiskLevel
  /** Detail beyond the level. */
  detail: string
}

type Annotations = Toolkit['tools'][number]['annotations']

export function riskOf(annotations: Annotations, isTrusted: boolean): Risk {
  if (!isTrusted || annotations === undefined)
    return { level: 'unknown', detail: 'Nobody says what it does. It may change or destroy something.' }
  const outside = annotations.openWorldHint ? ', also outside of this server' : ''
  // Contradicting annotations count as destructive, as in the policy.
  if (annotations.readOnlyHint && annotations.destructiveHint !== true)
    return { level: 'reads', detail: `Says that it only reads${outside}.` }
  const beyond = outside ? 'It also reaches outside of this server.' : ''
  if (annotations.destructiveHint === false) return { level: 'changes', detail: beyond }
  const again = annotations.idempotentHint ? 'Doing it twice does no more than once.' : ''
  return { level: 'destroys', detail: [beyond, again].filter(Boolean).join(' ') }
}

export interface ApprovalTool {
  toolkit: string
  tool: string
  toolkitName: string
  title: string
  account: string | undefined
  risk: Risk
  inputSchema: unknown
}

const QUESTION: Risk = { level: 'asks', detail: 'The workflow goes on, or takes its other way, as you say.' }

/** Toolkit id of approval nodes of a workflow, which call no tool. */
const QUESTIONS = 'workflow'

/** The tool of an approval, as far as the toolkits are loaded. */
export function toolOf(ref: string, toolkits: readonly Toolkit[] | undefined): ApprovalTool {
  const dot = ref.indexOf('.')
  const toolkit = ref.slice(0, dot)
  const tool = ref.slice(dot + 1)
  const server = toolkits?.find(({ id }) => id === toolkit)
  const isQuestion = server === undefined && toolkit === QUESTIONS
  const found = server?.tools.find(({ name }) => name === tool)
  return {
    toolkit,
    tool,
    toolkitName: isQuestion ? 'its way through a workflow' : (server?.name ?? toolkit),
    title: found?.title ?? found?.annotations?.title ?? tool,
    account: server?.options.account,
    risk: isQuestion ? QUESTION : riskOf(found?.annotations, server !== undefined && !server.options.untrusted),
    inputSchema: found?.inputSchema ?? { type: 'object' },
  }
}
