/** Requests to authorization servers. They use the SDK, so this module loads with the first of them. */
export { signInError } from '../errors.ts'
export { issuerOf } from '../flow/authorize.ts'
export { fetchClientCredentials } from '../flow/client-credentials.ts'
export { renewSession } from './refresh.ts'
export { revoke } from './revoke.ts'
