/** How an app answers a question: whose and which it is in one piece or in two, and `type` where it says that for `decision`. */
import { approvalAnswer } from '../schema/approval.ts'
import { jsonObject, parse } from '../schema/json.ts'

export interface ApprovalAddress {
  userId: string
  id: string
}

export type GivenAnswer = [userId: string, id: string, answer: unknown] | [approval: ApprovalAddress, answer: unknown]

export function readAnswer(given: GivenAnswer) {
  const [address, input] =
    given.length === 3 ? ([{ userId: given[0], id: given[1] }, given[2]] as const) : ([given[0], given[1]] as const)
  const { type, ...rest } = parse(jsonObject, input)
  // Both at once are refused as any field that is not known.
  const answer = type === undefined || 'decision' in rest ? input : { ...rest, decision: type }
  return { userId: address.userId, id: address.id, ...parse(approvalAnswer, answer) }
}
