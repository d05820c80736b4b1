/**
 * The contract of the short way for a call: a POST of JSON to one URL, whose usual answers are read as text without the
 * web's objects in between. A driver may bring it beside its fetch, and it keeps all that its fetch keeps: the guard, the
 * routes, the limits. Whatever is not usual comes back as a `Response`, for whoever handles those.
 */
import type { HostError } from '../../../errors.ts'

/** For one URL and what is the same in all its requests. Throws unless the URL may be asked for. */
export type PreparePost = (url: URL, headers: Headers) => PostFn

/** Sends one request, and gives what ends it: whoever reads the answer gets the reason. */
export type PostFn = (post: DirectPost, reader: ResponseReader) => (reason: unknown) => void

export interface DirectPost {
  body: string
  /** Beside those of the line: names and values in turn. */
  headers: readonly string[]
  /** Told why the body of the answer broke off. */
  onBodyFailure?: (error: HostError) => void
}

/** Exactly one of `onJson`, `onStreamEnd`, `onOther` and `onFailure` comes first; after a stop, `onFailure` may come too. */
export interface ResponseReader {
  /** The whole body of an answer in JSON. */
  onJson(text: string): void
  /** The data of one event of a stream. */
  onEvent(data: string): void
  /** The stream is over, or broke off. */
  onStreamEnd(stream: StreamEnd): void
  /** An answer that is neither, or not a success. Its body is unread. */
  onOther(response: Response): void
  /** There is no answer, or its JSON broke off. */
  onFailure(error: unknown): void
  /** Nothing more will arrive. */
  onDone(): void
}

export interface StreamEnd {
  /** Where the server would go on with it. */
  lastEventId: string | undefined
  /** How long the server wants us to wait before that. */
  retryMs: number | undefined
}
