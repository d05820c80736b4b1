/** One sign-in on its way: made when its link is, kept sealed until the person comes back with the code. */
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { KeptKey } from './session.ts'

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
  dpopKey: anyObject,
  expiresAt: z.number(),
})

export type SignInFlow = Omit<z.infer<typeof flow>, 'discovery' | 'client' | 'dpopKey'> & {
  discovery: OAuthDiscoveryState
  client: StoredOAuthClientInformation
  dpopKey: KeptKey
}

export function readFlow(value: unknown): SignInFlow | undefined {
  const read = flow.safeParse(value)
  return read.success ? (read.data as unknown as SignInFlow) : undefined
}

/** 256 bits, as text for a URL. */
export function newState(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

export async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
