/** SHA-256 by WebCrypto, the same in Node and in a browser. */

/** Hashes UTF-8 text and returns hexadecimal digits, all 64 or the first `digits`. */
export async function sha256Hex(text: string, digits = 64): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  let hex = ''
  for (const byte of digest) hex += byte.toString(16).padStart(2, '0')
  return hex.slice(0, digits)
}
