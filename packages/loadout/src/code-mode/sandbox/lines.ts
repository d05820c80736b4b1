/** Splits a byte stream into lines of limited length. Only LF ends a line, because JSON texts can contain U+2028. */
export interface Lines {
  take(chunk: Uint8Array): void
}

const NEWLINE = 10
/** Several times the largest message of a program with default limits. */
const MAX_BYTES = 32 * 1024 * 1024

export function readLines(onLine: (line: string) => void, tooLong: () => void, most = MAX_BYTES): Lines {
  const decoder = new TextDecoder()
  let parts: Uint8Array[] = []
  let size = 0
  const finish = (last: Uint8Array) => {
    const whole = parts.length === 0 ? last : joined([...parts, last])
    parts = []
    size = 0
    onLine(decoder.decode(whole))
  }
  return {
    take(chunk) {
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        finish(chunk.subarray(from, end))
        from = end + 1
      }
      const rest = chunk.subarray(from)
      if (rest.length === 0) return
      size += rest.length
      if (size > most) return tooLong()
      parts.push(rest)
    },
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
