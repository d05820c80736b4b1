/**
 * One sign-in on its way: made when its link is, kept sealed until the person comes back with the code. Several may be open:
 * a link that was given stays good for its ten minutes, whoever asks for another one meanwhile.
 */
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { SignInRow } from '../../schema/toolkit/sign-in.ts'
import type { StoredDpopKey } from '../session/session.ts'

const anyObject = z.record(z.string(), z.unknown())

const flow = z.object({
  /** What the link carries and the callback must bring. */
  state: z.string().min(20),
  /** Where the person goes. */
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

/** Those that are still good, the oldest first. */
export function readFlows(value: unknown): SignInFlow[] {
  if (!Array.isArray(value)) return []
  const flows = value.flatMap((entry) => {
    const read = flow.safeParse(entry)
    return read.success ? [read.data as unknown as SignInFlow] : []
  })
  return flows.filter(({ expiresAt }) => expiresAt > Date.now())
}

/** What the row says of them: another mark with every link that comes or goes, so that two writers do not miss each other. */
export async function rowMarks(flows: readonly SignInFlow[]): Promise<Pick<SignInRow, 'stateHash' | 'stateUntil'>> {
  if (flows.length === 0) return { stateHash: null, stateUntil: null }
  const until = Math.max(...flows.map(({ expiresAt }) => expiresAt))
  return { stateHash: await sha256(flows.map(({ state }) => state).join(' ')), stateUntil: new Date(until) }
}

/** Where to look for it, and 256 bits that nobody can guess, as text for a URL. */
export function newState(signInId: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const secret = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  return `${signInId}.${secret}`
}

export const signInIdOf = (state: string) => state.slice(0, Math.max(0, state.indexOf('.')))

/** Compared by hash, so that how long it takes tells nothing. */
export async function findFlow(flows: readonly SignInFlow[], state: string): Promise<SignInFlow | undefined> {
  const wanted = await sha256(state)
  const hashes = await Promise.all(flows.map((entry) => sha256(entry.state)))
  return flows[hashes.indexOf(wanted)]
}

export async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
