/** The last bytes of something that never ends. */
export interface RingBuffer {
  write(chunk: Uint8Array): void
  text(): string
}

export function createRing(capacity: number): RingBuffer {
  const bytes = new Uint8Array(capacity)
  let at = 0
  let full = false
  return {
    write(chunk) {
      const kept = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk
      const first = Math.min(kept.length, capacity - at)
      bytes.set(kept.subarray(0, first), at)
      bytes.set(kept.subarray(first), 0)
      if (at + kept.length >= capacity) full = true
      at = (at + kept.length) % capacity
    },
    text() {
      const parts = full ? [bytes.subarray(at), bytes.subarray(0, at)] : [bytes.subarray(0, at)]
      const decoder = new TextDecoder()
      return parts.map((part, index) => decoder.decode(part, { stream: index < parts.length - 1 })).join('')
    },
  }
}
