/** Input limits of the sign-in routes. This module has no imports, so that local mode does not load better-auth. */

export const PASSWORD_LENGTH = { min: 10, max: 128 }

/** A path on this server: one leading slash, and nothing that a browser reads as another host. */
export const isLocalPath = (path: string) => /^\/(?![/\\])[^\p{Cc}\\]*$/u.test(path)
