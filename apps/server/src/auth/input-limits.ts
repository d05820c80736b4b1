/** What routes hold input against. It loads nothing: the routes are there in local mode, too, where nobody signs in. */

export const PASSWORD_LENGTH = { min: 10, max: 128 }

/** A path of ours: one slash first, and nothing that a browser would read as another place. */
export const isLocalPath = (path: string) => /^\/(?![/\\])[^\p{Cc}\\]*$/u.test(path)
