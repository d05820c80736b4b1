/**
 * Who holds the keys that wrap the data keys. A cloud KMS is one more file that returns this; so are the local key
 * file, the master key of the environment, and a browser's own key.
 */
export interface KeyRing {
  /** The key that wraps what is written now. */
  currentKeyId(): Promise<string>
  wrap(dataKey: Uint8Array, boundTo: Uint8Array): Promise<{ keyId: string; wrapped: Uint8Array }>
  /** Throws `credential-key-lost` where the ring does not have that key, `credential-unreadable` where it does not fit. */
  unwrap(keyId: string, wrapped: Uint8Array, boundTo: Uint8Array): Promise<Uint8Array>
}
