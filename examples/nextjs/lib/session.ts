/** The app's own session: here a signed cookie, elsewhere `(await auth())?.user.id` or your library's call. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const seal = (userId: string, secret: string) => createHmac('sha256', secret).update(userId).digest('hex')

export function userOf(request: Request) {
  const secret = process.env.SESSION_SECRET
  const [, userId, sent = ''] = /(?:^|; )user=([\w-]+)\.(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
  if (!secret || userId === undefined) return undefined
  const sealed = Buffer.from(seal(userId, secret))
  const isValid = sent.length === sealed.length && timingSafeEqual(Buffer.from(sent), sealed)
  return isValid ? { kind: 'session' as const, userId } : undefined
}
