import { z } from 'zod'
import { globProblem } from '../glob.ts'
import { ownerId, threadId } from '../ids.ts'
import { tier } from '../scope.ts'

/** A toolkit (`github`), a tool (`github.delete_repo`) or a glob over them (`github.create_*`, `*.delete_*`). */
export const activationRef = z
  .string()
  .min(1)
  .max(400)
  .regex(/^[a-z0-9*?[\]{},!_-]+(\..+)?$/su, 'must be "toolkit", "toolkit.tool" or a glob over them')
  .refine((ref) => !ref.startsWith('!'), 'must not begin with "!"')
  .superRefine((ref, context) => {
    const problem = globProblem(ref)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })

/** What makes the list of a scope exclusive: whatever is not switched on there is off. */
export const EXCLUSIVE = '!*'

/** How many words a scope may have, and how many of them may be globs. */
export const MAX_ACTIVATIONS = 1000
export const MAX_GLOBS = 50

/** Scope + toolkit or tool + on/off. Off is a tombstone: a lower tier cannot undo it unless policy says so. */
export const activationRow = z.strictObject({
  activationId: z.string(),
  userId: ownerId,
  tier,
  /** Empty below no thread, so that a unique key can hold it. */
  threadId: z.union([threadId, z.literal('')]),
  ref: z.union([activationRef, z.literal(EXCLUSIVE)]),
  on: z.boolean(),
  createdAt: z.date(),
})
export type ActivationRow = z.infer<typeof activationRow>
