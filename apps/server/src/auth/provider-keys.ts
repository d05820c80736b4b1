/**
 * Cached signing keys of an OIDC provider. An unknown key id triggers a refetch, with a cooldown against made-up
 * tokens.
 */
import { z } from 'zod'

const key = z.looseObject({ kty: z.string(), kid: z.string().optional(), use: z.string().optional() })
const keySet = z.object({ keys: z.array(z.unknown()).max(1000) })
type Key = z.infer<typeof key>

export interface KeyClock {
  ttlMs: number
  /** Cooldown between refetches. */
  restMs: number
}
const CLOCK: KeyClock = { ttlMs: 600_000, restMs: 30_000 }

/** Key lookup by token header, as jose calls it. */
export function providerKeys(ask: () => Promise<unknown>, { ttlMs, restMs }: KeyClock = CLOCK) {
  let cached: { keys: Key[]; at: number } | undefined
  let asking: Promise<Key[]> | undefined
  const renew = () => {
    asking ??= readKeys(ask)
      .then((keys) => {
        cached = { keys, at: Date.now() }
        return keys
      })
      .finally(() => {
        asking = undefined
      })
    return asking
  }
  return async ({ alg = '', kid }: { alg?: string; kid?: string }): Promise<Key> => {
    const old = cached && Date.now() - cached.at < ttlMs ? cached : undefined
    const keys = old?.keys ?? (await renew())
    const isNew = old === undefined || Date.now() - old.at < restMs
    const found = pick(keys, alg, kid) ?? (isNew ? undefined : pick(await renew(), alg, kid))
    if (!found) throw new Error('The provider has no such key.')
    return found
  }
}

async function readKeys(ask: () => Promise<unknown>): Promise<Key[]> {
  return keySet.parse(await ask()).keys.flatMap((entry) => key.safeParse(entry).data ?? [])
}

/** Returns a key only if exactly one matches. */
function pick(keys: readonly Key[], alg: string, kid: string | undefined): Key | undefined {
  const kty = alg.startsWith('ES') ? 'EC' : alg.startsWith('Ed') ? 'OKP' : 'RSA'
  const matches = keys.filter(
    (candidate) =>
      candidate.kty === kty &&
      candidate.use !== 'enc' &&
      (kid === undefined || candidate.kid === kid) &&
      signsWith(candidate, alg),
  )
  return matches.length === 1 ? matches[0] : undefined
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

const signsWith = (candidate: Key, alg: string): boolean =>
  (candidate.alg === undefined || candidate.alg === alg) && (CURVES[alg] === undefined || candidate.crv === CURVES[alg])
