/**
 * Blocks this machine for sandboxes. Its loopback has the host's own API and services that trust local callers, so it
 * is not part of the private network that users' servers may reach. The operator can allow names and addresses.
 */
import { hostname, networkInterfaces } from 'node:os'
import { HostError } from '../../../errors.ts'
import { type AddressOptions, isLiteral, parseAddress, readAllowed } from '../../http/guard/address-guard.ts'

export interface LocalAddressGuard {
  /** Throws if the host of a URL is this machine. Resolved addresses are checked later. */
  checkHost(host: string): void
  /** Throws if the address belongs to this machine. */
  checkAddress(address: string, host: string): void
}

const LOCAL_RANGES = new Set(['loopback', 'unspecified'])
const LOCAL_NAMES = /^(.*\.)?localhost(\.localdomain)?$|^ip6-(localhost|loopback)$/

export function createLocalAddressGuard({ allow = [] }: Pick<AddressOptions, 'allow'>): LocalAddressGuard {
  const allowed = readAllowed(allow)
  const checkAddress = (text: string, host: string) => {
    const address = parseAddress(text)
    if (address && (allowed.hasAddress(address) || allowed.hasName(host))) return
    if (!address || LOCAL_RANGES.has(address.range()) || interfaces().has(address.toString())) throw refused(host)
  }
  return {
    checkHost(host) {
      if (isLiteral(host)) checkAddress(host, host)
      else if ((LOCAL_NAMES.test(host) || host === hostname().toLowerCase()) && !allowed.hasName(host))
        throw refused(host)
    },
    checkAddress,
  }
}

/** Read each time, because interfaces change. */
function interfaces(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return new Set(addresses.flatMap(({ address }) => parseAddress(address.replace(/%.*$/, ''))?.toString() ?? []))
}

const refused = (host: string) =>
  new HostError('address-blocked', { detail: `${host} is the machine of this host, which a sandbox does not reach.` })
