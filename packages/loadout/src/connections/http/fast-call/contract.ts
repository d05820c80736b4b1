/**
 * Contract of the fast path for `tools/call`: a JSON POST to one URL whose usual responses are read as text, without
 * web streams. It has the same guard, routes and limits as the driver's fetch. Any other response is returned as a
 * `Response`.
 */
import type { HostError } from '../../../errors.ts'

/** Prepares posts to one URL with fixed headers. Throws unless the URL is allowed. */
export type PreparePost = (url: URL, headers: Headers) => PostFn

/** Sends one request and returns a function that aborts it with a reason. */
export type PostFn = (post: DirectPost, reader: ResponseReader) => (reason: unknown) => void

export interface DirectPost {
  body: string
  /** Headers of this request only; names and values alternate. */
  headers: readonly string[]
  /** Called with the error that ended the response body. */
  onBodyFailure?: (error: HostError) => void
}

/**
 * Exactly one of `onJson`, `onStreamEnd`, `onOther` and `onFailure` is called first; after an abort, `onFailure` may
 * follow.
 */
export interface ResponseReader {
  /** Whole body of a JSON response. */
  onJson(text: string): void
  /** Data of one stream event. */
  onEvent(data: string): void
  /** The stream ended or broke off. */
  onStreamEnd(stream: StreamEnd): void
  /** Any other response; its body is unread. */
  onOther(response: Response): void
  /** No response arrived, or its JSON broke off. */
  onFailure(error: unknown): void
  /** No more data will arrive. */
  onDone(): void
}

export interface StreamEnd {
  /** Event ID to resume the stream from. */
  lastEventId: string | undefined
  /** Milliseconds to wait before resuming, from the server. */
  retryMs: number | undefined
}
