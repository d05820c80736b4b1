/** Configures libraries for the CSP, which forbids `eval` and unknown styles. */

/** CSP nonce for styles that scripts insert. */
export const styleNonce = (): string | undefined =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce || undefined

export function configureCsp(): void {
  Object.assign(globalThis, {
    // Radix UI reads the nonce here.
    __webpack_nonce__: styleNonce(),
    // Zod would otherwise test for `eval`, which reports a CSP violation.
    __zod_globalConfig: { jitless: true },
  })
}
