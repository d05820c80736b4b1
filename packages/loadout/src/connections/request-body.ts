/** The body of a request as bytes, with the content type that `fetch` would give it. */
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'

export interface Payload {
  /** What is written at once. A stream is read while it is sent, and only once. */
  data: string | Uint8Array | Readable
  contentType: string | undefined
}

export async function payloadOf(body: BodyInit): Promise<Payload> {
  if (body instanceof ReadableStream)
    return { data: Readable.fromWeb(body as WebStream<Uint8Array>), contentType: undefined }
  // Blobs and forms: the platform knows how to write them.
  const written = new Response(body)
  const contentType = written.headers.get('content-type') ?? undefined
  return { data: new Uint8Array(await written.arrayBuffer()), contentType }
}

/** The same without waiting, for what is already bytes. */
export function simplePayload(body: BodyInit): Payload | undefined {
  if (typeof body === 'string') return { data: body, contentType: 'text/plain;charset=UTF-8' }
  if (body instanceof URLSearchParams)
    return { data: body.toString(), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' }
  if (body instanceof ArrayBuffer) return { data: new Uint8Array(body), contentType: undefined }
  if (ArrayBuffer.isView(body))
    return { data: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), contentType: undefined }
  return undefined
}
