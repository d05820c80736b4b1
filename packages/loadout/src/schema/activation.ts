import { z } from 'zod'
import { globProblem } from './glob.ts'
import { ownerId, threadId } from './ids.ts'
import { tier } from './scope.ts'

/** A toolkit (`github`), a tool (`github.delete_repo`) or a glob over them (`github.create_*`, `*.delete_*`). */
export const activationRef = z
  .string()
  .min(1)
  .max(400)
  .regex(/^[a-z0-9*?[\]{},!_-]+(\..+)?$/su, 'must be "toolkit", "toolkit.tool" or a glob over them')
  .superRefine((ref, context) => {
    const problem = globProblem(ref)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })

/** Scope + toolkit or tool + on/off. Off is a tombstone: a lower tier cannot undo it unless policy says so. */
export const activationRow = z.strictObject({
  activationId: z.string(),
  userId: ownerId,
  tier,
  /** Empty below no thread, so that a unique key can hold it. */
  threadId: z.union([threadId, z.literal('')]),
  ref: activationRef,
  on: z.boolean(),
  createdAt: z.date(),
})
export type ActivationRow = z.infer<typeof activationRow>
