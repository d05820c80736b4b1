/** Scopes are words in a row. */
const words = (scope = '') => scope.split(' ').filter(Boolean)

/** Whether all of them are among the others. */
export const isWithin = (scope: string, wider: string | undefined) =>
  words(scope).every((word) => words(wider).includes(word))
