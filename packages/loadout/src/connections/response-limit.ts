/**
 * The largest answer of a server, over any transport, in decoded bytes: a body, an event of a stream, a line of a process.
 * Room for a text of 64 MiB, also where its characters are escaped or it is said again as structured content. It is held
 * whole while it is read, so an operator with many users may want less.
 */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024
