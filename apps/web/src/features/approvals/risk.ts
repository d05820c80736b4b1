/** How dangerous a call is, in words, by what its server claims of the tool. Claims: a server that is not believed has none. */
import type { Toolkit } from '../../lib/api.ts'

export type RiskLevel = 'reads' | 'changes' | 'destroys' | 'unknown' | 'asks'

export interface Risk {
  level: RiskLevel
  /** What there is to say beyond the level. */
  words: string
}

type Annotations = Toolkit['tools'][number]['annotations']

export function riskOf(annotations: Annotations, isTrusted: boolean): Risk {
  if (!isTrusted || annotations === undefined)
    return { level: 'unknown', words: 'Nobody says what it does. It may change or destroy something.' }
  const outside = annotations.openWorldHint ? ', also outside of this server' : ''
  // Who claims both is taken at the worse word, as the policy does.
  if (annotations.readOnlyHint && annotations.destructiveHint !== true)
    return { level: 'reads', words: `Says that it only reads${outside}.` }
  const beyond = outside ? 'It also reaches outside of this server.' : ''
  if (annotations.destructiveHint === false) return { level: 'changes', words: beyond }
  const again = annotations.idempotentHint ? 'Doing it twice does no more than once.' : ''
  return { level: 'destroys', words: [beyond, again].filter(Boolean).join(' ') }
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

const QUESTION: Risk = { level: 'asks', words: 'The workflow goes on, or takes its other way, as you say.' }

/** A node of a workflow that asks is written like a tool, and calls nothing. */
const QUESTIONS = 'workflow'

/** What is known here of the tool that a question is about. */
export function toolOf(ref: string, toolkits: readonly Toolkit[] | undefined): ApprovalTool {
  const dot = ref.indexOf('.')
  const toolkit = ref.slice(0, dot)
  const tool = ref.slice(dot + 1)
  const known = toolkits?.find(({ id }) => id === toolkit)
  const isQuestion = known === undefined && toolkit === QUESTIONS
  const found = known?.tools.find(({ name }) => name === tool)
  return {
    toolkit,
    tool,
    toolkitName: isQuestion ? 'its way through a workflow' : (known?.name ?? toolkit),
    title: found?.title ?? found?.annotations?.title ?? tool,
    account: known?.options.account,
    risk: isQuestion ? QUESTION : riskOf(found?.annotations, known !== undefined && !known.options.untrusted),
    inputSchema: found?.inputSchema ?? { type: 'object' },
  }
}
