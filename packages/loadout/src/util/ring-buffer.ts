/** Keeps the last bytes of an endless stream. */
export interface RingBuffer {
  write(chunk: Uint8Array): void
  text(): string
}

export function createRingBuffer(capacity: number): RingBuffer {
  const bytes = new Uint8Array(capacity)
  let at = 0
  let full = false
  return {
    write(chunk) {
      const tail = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk
      const first = Math.min(tail.length, capacity - at)
      bytes.set(tail.subarray(0, first), at)
      bytes.set(tail.subarray(first), 0)
      if (at + tail.length >= capacity) full = true
      at = (at + tail.length) % capacity
    },
    text() {
      const parts = full ? [bytes.subarray(at), bytes.subarray(0, at)] : [bytes.subarray(0, at)]
      const decoder = new TextDecoder()
      return parts.map((part, index) => decoder.decode(part, { stream: index < parts.length - 1 })).join('')
    },
  }
}
