/**
 * One pending sign-in, stored encrypted from its link until the callback. Several may be open, and each link stays
 * valid for 10 minutes.
 */

import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { SignInRow } from '../../schema/toolkit/sign-in.ts'
import { sha256Hex } from '../../util/hash.ts'
import type { StoredDpopKey } from '../session/session.ts'

const anyObject = z.record(z.string(), z.unknown())

const flow = z.object({
  /** Secret in the link that the callback must return. */
  state: z.string().min(20),
  /** Authorization URL for the user. */
  url: z.string(),
  verifier: z.string(),
  discovery: anyObject,
  client: anyObject,
  redirectUrl: z.string(),
  serverUrl: z.string(),
  resource: z.string().optional(),
  scope: z.string().optional(),
  repeats: z.number().int(),
  stepUps: z.number().int(),
  dpopKey: anyObject,
  expiresAt: z.number(),
})

export type SignInFlow = Omit<z.infer<typeof flow>, 'discovery' | 'client' | 'dpopKey'> & {
  discovery: OAuthDiscoveryState
  client: StoredOAuthClientInformation
  dpopKey: StoredDpopKey
}

/** Unexpired flows, oldest first. */
export function readFlows(value: unknown): SignInFlow[] {
  if (!Array.isArray(value)) return []
  const flows = value.flatMap((entry) => {
    const read = flow.safeParse(entry)
    return read.success ? [read.data as unknown as SignInFlow] : []
  })
  return flows.filter(({ expiresAt }) => expiresAt > Date.now())
}

/**
 * Row columns for these flows. The hash changes with every added or removed link, so that concurrent writers conflict.
 */
export async function rowMarks(flows: readonly SignInFlow[]): Promise<Pick<SignInRow, 'stateHash' | 'stateUntil'>> {
  if (flows.length === 0) return { stateHash: null, stateUntil: null }
  const until = Math.max(...flows.map(({ expiresAt }) => expiresAt))
  return { stateHash: await sha256Hex(flows.map(({ state }) => state).join(' ')), stateUntil: new Date(until) }
}

/** Row ID and 256 random bits, URL-safe. */
export function newState(signInId: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const secret = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  return `${signInId}.${secret}`
}

export const signInIdOf = (state: string) => state.slice(0, Math.max(0, state.indexOf('.')))

/** Compares hashes, so that timing reveals nothing. */
export async function findFlow(flows: readonly SignInFlow[], state: string): Promise<SignInFlow | undefined> {
  const wanted = await sha256Hex(state)
  const hashes = await Promise.all(flows.map((entry) => sha256Hex(entry.state)))
  return flows[hashes.indexOf(wanted)]
}
