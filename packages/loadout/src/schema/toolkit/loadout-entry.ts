import { z } from 'zod'
import { jsonObject } from '../json.ts'
import { tier } from '../scope.ts'
import { allowedCaller, toolExamples, toolManifest, toolRef } from './tool.ts'

/** Why a tool is in the loadout, or is not. */
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
  /** Whether the reason includes or excludes the tool. */
  speaks: z.enum(['for', 'against']),
  /** Tier of the decision. */
  tier: tier.optional(),
  detail: z.string(),
})
export type Reason = z.infer<typeof reason>

/** One tool of a loadout, with its origin and the reasons for or against it. */
export const loadoutEntry = z.object({
  ref: toolRef,
  /** Name that the model gets. Resolved by lookup, never parsed. */
  modelName: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Tier of the toolkit. */
  tier,
  toolkit: z.string(),
  /** Display name of the toolkit, for search only. */
  toolkitName: z.string().optional(),
  /** Id of the stored toolkit, if it is stored. */
  uscoId: z.string().optional(),
  /** The tool's name at its server. */
  tool: z.string(),
  /** Manifest for the model, with overrides and transformers applied. */
  manifest: toolManifest,
  providerOptions: jsonObject.optional(),
  /** Example prompts from the toolkit, for search only. */
  examples: toolExamples.optional(),
  deferred: z.boolean(),
  allowedCallers: z.array(allowedCaller),
  /** Estimated tokens of the definition. */
  tokens: z.number(),
  included: z.boolean(),
  reasons: z.array(reason),
})
export type LoadoutEntry = z.infer<typeof loadoutEntry>
