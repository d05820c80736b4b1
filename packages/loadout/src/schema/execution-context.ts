import { z } from 'zod'
import { toolkitId } from './ids.ts'
import { safeRecord } from './json.ts'
import { principal } from './principal.ts'
import { secretRef } from './records/credential.ts'
import { scope } from './scope.ts'
import { policyRules } from './toolkit/policy.ts'
import { toolkit } from './toolkit/toolkit.ts'

/** Data of one invocation: ids and plain records, never a client or a catalog. */
export const executionContext = z
  .strictObject({
    principal,
    scope: scope.default({}),
    /** Toolkits of this invocation by id, in input order. They take precedence over files and environment. */
    toolkits: z.record(toolkitId, toolkit).default({}),
    /** Warnings of the reader: unknown fields and invalid tools. */
    warnings: z.array(z.string().max(1000)).max(50).optional(),
    /** Secrets and API keys by name, as references to the credential store. */
    secrets: safeRecord(secretRef).default({}),
    /** Rules of this invocation. They can only tighten. */
    rules: policyRules.optional(),
    runId: z.string().optional(),
    /** Version of the running workflow; its usage counts for this version. */
    workflowVersionId: z.string().max(200).optional(),
    signal: z.instanceof(AbortSignal).optional(),
  })
  .refine((value) => value.scope.userId === undefined || value.scope.userId === value.principal.userId, {
    path: ['scope', 'userId'],
    message: "must be the principal's own",
  })
export type ExecutionContextInput = z.input<typeof executionContext>
export type ExecutionContext = Readonly<z.output<typeof executionContext>>
