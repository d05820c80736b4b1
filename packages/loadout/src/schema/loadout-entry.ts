import { z } from 'zod'
import { tier } from './scope.ts'
import { toolManifest, toolRef } from './tool.ts'

/** Why a tool is carried, or is not. */
export const reason = z.object({
  kind: z.enum([
    'tier',
    'activation',
    'shadowed',
    'filter',
    'search',
    'policy',
    'pin',
    'limit',
    'disabled',
    'transform',
  ]),
  tier: tier.optional(),
  detail: z.string(),
})
export type Reason = z.infer<typeof reason>

/** One tool of a loadout, with the reason it is there. */
export const loadoutEntry = z.object({
  ref: toolRef,
  modelName: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  tier,
  toolkit: z.string(),
  uscoId: z.string().optional(),
  manifest: toolManifest,
  deferred: z.boolean(),
  included: z.boolean(),
  reasons: z.array(reason),
})
export type LoadoutEntry = z.infer<typeof loadoutEntry>
