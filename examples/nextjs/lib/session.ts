/** Who is signed in is the app's own: here a signed cookie, elsewhere `(await auth())?.user.id` or whatever there is. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const seal = (userId: string, secret: string) => createHmac('sha256', secret).update(userId).digest('hex')

export const cookieFor = (userId: string) => `user=${userId}.${seal(userId, process.env.SESSION_SECRET ?? '')}`

export function userOf(request: Request): string | undefined {
  const secret = process.env.SESSION_SECRET
  const [, userId, given = ''] = /(?:^|; )user=([\w-]+)\.(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
  if (!secret || userId === undefined) return undefined
  const sealed = Buffer.from(seal(userId, secret))
  return given.length === sealed.length && timingSafeEqual(Buffer.from(given), sealed) ? userId : undefined
}
