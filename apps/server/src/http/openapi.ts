/** Small pieces that every route's description is made of. */
import { z } from '@hono/zod-openapi'

/** A schema of the library under a name in the document. A copy: the original was made before it could carry one. */
export function named<T extends z.ZodType>(schema: T, name: string): T {
  return schema.clone().openapi(name) as T
}

export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function jsonBodyOf<T extends z.ZodType>(schema: T) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

/** An id in a path: anybody's text, until it is found. */
export const idText = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}]*$/u, 'must not hold control characters')
export const idParam = z.object({ id: idText })
