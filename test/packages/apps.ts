/** Example apps with their own package.json. */
export const APPS = ['nextjs', 'hono', 'express'] as const
