/** Helpers for route descriptions. */
import { z } from 'zod'

/** Names a library schema in the OpenAPI document.. */
export function named<T extends z.ZodType>(schema: T, name: string): T {
  return schema.meta({ id: name })
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
