/** Options for the behavior of `oauth-server.ts`. */
export interface OAuthRules {
  /** How long an access token lives. */
  expiresIn: number | undefined
  /** Whether refresh tokens are given. */
  refresh: boolean
  /** Refreshes are refused with this. */
  refreshError: { status: number; error: string } | undefined
  /** How long a refresh takes before it is done. */
  refreshMs: number
  /** How long the answer of a refresh that is done stays away. */
  answerMs: number
  /** What the issuer calls itself; undefined is its own address. */
  issuer: string | undefined
  /** What the callback is told of the issuer. */
  iss: string | undefined
  authorizationEndpoint: string | undefined
  /** A scope that calls need. */
  callScope: string | undefined
  /** Where the address of the resource's metadata leads instead of answering. */
  metadataRedirect: string | undefined
  /** What the resource says whose tokens it takes. */
  authorizationServers: string[] | undefined
  register: boolean
  /** Where clients register, where that is elsewhere. */
  registrationEndpoint: string | undefined
  /** The address by which it is known, where that is another than its own. */
  at: string | undefined
  /** How registered clients authenticate at the token and revocation endpoints; a secret is registered unless `none`. */
  clientAuth: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** Whether calls fail with the token in the error's words. */
  tells: boolean
  /** Whether each user has a tool that only they have. */
  personal: boolean
}

export const RULES: OAuthRules = {
  expiresIn: 3600,
  refresh: true,
  refreshError: undefined,
  refreshMs: 0,
  answerMs: 0,
  issuer: undefined,
  iss: undefined,
  authorizationEndpoint: undefined,
  callScope: undefined,
  metadataRedirect: undefined,
  authorizationServers: undefined,
  register: true,
  registrationEndpoint: undefined,
  at: undefined,
  clientAuth: 'none',
  tells: false,
  personal: false,
}
