/** Helpers for route descriptions. */
import { z } from '@hono/zod-openapi'

/** Names a library schema in the OpenAPI document. Clones it, because library schemas have no `openapi` method. */
export function named<T extends z.ZodType>(schema: T, name: string): T {
  return schema.clone().openapi(name) as T
}

export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function jsonBodyOf<T extends z.ZodType>(schema: T) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

/** An id in a path: any text until it is looked up. */
export const idText = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}]*$/u, 'must not hold control characters')
export const idParam = z.object({ id: idText })
