/** Path in front of the app, which the server writes into the page; empty at the root. */
export const BASE_PATH: string =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? ''
