/** Holds the keys that wrap data keys: a key file, a master key from the environment, a browser key, or a cloud KMS. */
export interface KeyRing {
  /** ID of the key that wraps new data. */
  currentKeyId(): Promise<string>
  wrap(dataKey: Uint8Array, boundTo: Uint8Array): Promise<{ keyId: string; wrapped: Uint8Array }>
  /**
   * Throws `credential-key-lost` if the ring lacks the key, and `credential-unreadable` if the data does not match it.
   */
  unwrap(keyId: string, wrapped: Uint8Array, boundTo: Uint8Array): Promise<Uint8Array>
}
