/** The server's policy runs no text as a script and takes no style but ours: libraries are told so before they try. */

/** What the policy knows rules by that our own scripts write into the page. */
export const styleNonce = (): string | undefined =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce || undefined

export function configureCsp(): void {
  Object.assign(globalThis, {
    // Where the primitives under our dialogs look for it.
    __webpack_nonce__: styleNonce(),
    // Schemas of the chat's SDK would be compiled, and find out by trying.
    __zod_globalConfig: { jitless: true },
  })
}
