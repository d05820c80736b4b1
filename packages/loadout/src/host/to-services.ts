/** Functions that take a host take its services too: servers and tests have only those. */
export type HostLike<S extends object> = S | { readonly services: S }

export function toServices<S extends object>(host: HostLike<S>): S {
  return 'services' in host ? (host.services as S) : host
}
