import { z } from 'zod'
import { jsonObject } from '../json.ts'
import { tier } from '../scope.ts'
import { allowedCaller, toolExamples, toolManifest, toolRef } from './tool.ts'

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
  /** Whether it is a reason to carry the tool, or not to. */
  speaks: z.enum(['for', 'against']),
  /** Where it was decided. */
  tier: tier.optional(),
  detail: z.string(),
})
export type Reason = z.infer<typeof reason>

/** One tool of a loadout, with where it comes from and the reasons it is carried or not. */
export const loadoutEntry = z.object({
  ref: toolRef,
  /** The name that a model sees. Looked up, never parsed. */
  modelName: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** The tier that the toolkit belongs to. */
  tier,
  toolkit: z.string(),
  /** As people call it. For searches; no model gets it. */
  toolkitName: z.string().optional(),
  /** The stored toolkit, where it is one. */
  uscoId: z.string().optional(),
  /** The tool's name at its server. */
  tool: z.string(),
  /** As the model gets it: overrides and transformers applied. */
  manifest: toolManifest,
  providerOptions: jsonObject.optional(),
  /** What people ask for when they need it, as its toolkit says. For searches; no model gets them. */
  examples: toolExamples.optional(),
  deferred: z.boolean(),
  allowedCallers: z.array(allowedCaller),
  /** About what its definition costs in a model's context. */
  tokens: z.number(),
  included: z.boolean(),
  reasons: z.array(reason),
})
export type LoadoutEntry = z.infer<typeof loadoutEntry>
