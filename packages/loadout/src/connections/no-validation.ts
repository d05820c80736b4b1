import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/client'

/** The SDK would check results against the server's own schema, in place and without a limit. We do that ourselves. */
export const NO_VALIDATION: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}
