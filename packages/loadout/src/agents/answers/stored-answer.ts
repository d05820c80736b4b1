/** Host parts of an answer, and the stored input that lets any process execute it. */
import { z } from 'zod'
import type { Approvals } from '../../policy/approvals/approvals.ts'
import type { Answers } from '../../runs/answers.ts'
import type { ResolveOptions } from '../../schema/toolkit/selection.ts'
import type { Thread, ThreadAddress, ThreadOptions } from '../../thread.ts'
import type { Messages } from '../../threads/messages.ts'

/** Parts of a host that answers use. */
export interface AnswerServices {
  messages: Pick<Messages, 'add' | 'list'>
  approvals: Pick<Approvals, 'get'>
  answers: Pick<Answers, 'start' | 'assertIdle' | 'parts'>
  thread(address: ThreadAddress, options?: ThreadOptions): Pick<Thread, 'select'>
}

/** Stored input of an answer. */
export const storedAnswer = z.object({
  messageId: z.string(),
  userMessageId: z.string(),
  /** Messages that the answer replaces. */
  instead: z.array(z.string()),
  model: z.string().optional(),
  system: z.string().optional(),
  maxSteps: z.number().optional(),
  budget: z.number().optional(),
  resolve: z.custom<Omit<ResolveOptions, 'prompt' | 'history' | 'model'>>().optional(),
})
export type StoredAnswer = z.infer<typeof storedAnswer>
