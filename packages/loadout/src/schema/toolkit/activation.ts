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

/** Makes the list of a scope exclusive: everything that is not turned on there is off. */
export const EXCLUSIVE = '!*'

/** Maximum activations per scope, and how many of them may be globs. */
export const MAX_ACTIVATIONS = 1000
export const MAX_GLOBS = 50

/** Scope, ref, and on or off. Off is a tombstone: a lower tier cannot undo it unless policy allows it. */
export const activationRow = z.strictObject({
  activationId: z.string(),
  userId: ownerId,
  tier,
  /** Empty when there is no thread, so that the unique key can include it. */
  threadId: z.union([threadId, z.literal('')]),
  ref: z.union([activationRef, z.literal(EXCLUSIVE)]),
  on: z.boolean(),
  createdAt: z.date(),
})
export type ActivationRow = z.infer<typeof activationRow>
