/** Saves over nobody: what is stored is looked at first, and who saves between that look and the save comes first. */
import type { ClientResponse } from 'hono/client'
import { answer, ProblemError } from '../../api.ts'

interface Look<T> {
  reading: Promise<ClientResponse<unknown>>
  /** Whether it is what the draft began with. */
  isSeen: (now: T) => boolean
  /** Where it is not, the page shows what is there now. */
  onNews: (now: T) => void
}

/** The headers to save with. */
export async function ifUnchanged<T>({ reading, isSeen, onNews }: Look<T>): Promise<{ 'if-match': string }> {
  const now = (await answer(reading)) as T
  if (isSeen(now)) return { 'if-match': (await reading).headers.get('etag') ?? '*' }
  onNews(now)
  throw new ProblemError(CHANGED)
}

const CHANGED = {
  title: 'It was changed elsewhere',
  detail: 'Somebody saved it, in another window or on another device, after you opened it here.',
  action: 'Look at what was saved, or keep yours, then save again.',
  type: 'about:blank',
  status: 409,
  code: 'conflict',
  requestId: '',
}
