/**
 * The app's own decision about a call, in code. It sees the arguments, which rules do not. It can only tighten the decision of
 * the rules, unless the app sets `mayLoosen`, and it never loosens a rule of a user or a thread. A function that fails denies
 * the call.
 */
import type { JsonObject } from '../schema/json.ts'
import { DECISIONS, type DecisionType } from '../schema/toolkit/policy.ts'
import type { Annotations, Caller } from '../schema/toolkit/tool.ts'
import { isObject } from '../util/is-object.ts'

/** The call that a policy function decides about. */
export interface PolicyFunctionCall {
  userId: string
  threadId?: string | undefined
  toolkit: string
  tool: string
  /** `toolkit.tool` */
  ref: string
  /** A copy: changes have no effect. */
  arguments: JsonObject
  caller: Caller
  /** Hints of the tool, as the policy reads them. Undefined if its server is not trusted. */
  annotations?: Annotations | undefined
  /** Decision of the app's rules. */
  decision: DecisionType
}

export interface PolicyAnswer {
  decision: DecisionType
  /** Shown to the user and to the model. */
  reason?: string
  /** Whether the approver may edit the arguments. The function is asked again about edited ones. @default false */
  allowEdits?: boolean
  /**
   * Whether the user may save the answer. A saved answer applies to the tool with any arguments.
   * @default false
   */
  allowRemember?: boolean
}

/** Returns nothing to leave the decision to the rules. */
export type PolicyFunction = (
  call: PolicyFunctionCall,
) => DecisionType | PolicyAnswer | undefined | Promise<DecisionType | PolicyAnswer | undefined>

export interface PolicyFunctionOptions {
  decide: PolicyFunction
  /** Whether the function may allow a call that the app's rules deny or ask about. @default false */
  mayLoosen?: boolean | undefined
  /** Receives what the function threw. */
  onError?: ((error: unknown) => void) | undefined
}

/** Never throws: a function that fails, or answers with anything else than a decision, denies. */
export async function askPolicyFunction(
  { decide, onError }: PolicyFunctionOptions,
  call: PolicyFunctionCall,
): Promise<Required<PolicyAnswer> | undefined> {
  try {
    const answer = await decide({ ...call, arguments: structuredClone(call.arguments) })
    return answer === undefined ? undefined : readAnswer(answer)
  } catch (error) {
    onError?.(error)
    return {
      decision: 'deny',
      reason: 'The policy function of the app failed, so nothing is allowed.',
      allowEdits: false,
      allowRemember: false,
    }
  }
}

function readAnswer(answer: unknown): Required<PolicyAnswer> {
  const fields: { [Key in keyof PolicyAnswer]?: unknown } = isObject(answer) ? answer : { decision: answer }
  const decision = DECISIONS.find((one) => one === fields.decision)
  if (decision === undefined)
    throw new TypeError(`The policy function answered ${JSON.stringify(answer)}. Answer allow, ask or deny.`)
  const reason = typeof fields.reason === 'string' ? fields.reason : `The policy function of the app says ${decision}.`
  return { decision, reason, allowEdits: fields.allowEdits === true, allowRemember: fields.allowRemember === true }
}
