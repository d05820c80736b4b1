/**
 * Decides which hosts and addresses may be reached (SSRF guard). It checks the parsed address, not its spelling: the
 * URL parser normalizes IPv4, and an IPv4 address embedded in IPv6 is checked as IPv4. One blocked address blocks the
 * whole name, and the socket gets exactly the checked addresses, so that DNS rebinding has no effect. Unknown ranges
 * are blocked.
 */
import { lookup as resolveName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { HostError } from '../../../errors.ts'

export interface HostAddress {
  address: string
  family: number
}

/** Resolves all addresses of a name. */
export type HostLookup = (hostname: string) => Promise<HostAddress[]>

export interface AddressOptions {
  /** Whether private, loopback and link-local addresses may be reached. @default false */
  privateNetwork?: boolean
  /** Names (`intranet.example`, `*.corp.example`), addresses or CIDRs that may be reached although they are private. */
  allow?: readonly string[]
  /** Resolver. @default the system's resolver */
  lookup?: HostLookup
}

export interface AddressGuard {
  /** Throws unless the URL is allowed. Resolved addresses are checked later, by `lookup`. */
  checkUrl(url: URL): void
  /** Throws unless a socket for `host` may connect to `address`. */
  checkAddress(address: string, host: string): void
  /** For `net.connect`: resolves once and returns only checked addresses. */
  lookup: LookupFunction
}

/** `metadata`: a cloud metadata service, which hands out credentials. `never`: no server can have this address. */
type Kind = 'public' | 'private' | 'metadata' | 'never'
type Address = ipaddr.IPv4 | ipaddr.IPv6

const PRIVATE_RANGES = new Set([
  'loopback',
  'private',
  'linkLocal',
  'uniqueLocal',
  'deprecatedSiteLocal',
  'carrierGradeNat',
  'unspecified',
])
const METADATA_ADDRESSES = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
])
const METADATA_NAMES = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
])
const LOCAL_NAMES = new Set(['localhost', 'localhost.localdomain', 'ip6-localhost', 'ip6-loopback'])
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

export function createAddressGuard(options: AddressOptions = {}): AddressGuard {
  const { privateNetwork = false, allow = [], lookup = systemLookup } = options
  const allowed = readAllowed(allow)

  const checkAddress = (text: string, host: string): void => {
    const address = parseAddress(text)
    const kind = address ? kindOf(address) : 'never'
    if (kind === 'public' || (address && allowed.hasAddress(address))) return
    if (kind === 'private' && (privateNetwork || allowed.hasName(host))) return
    throw blocked(host === text ? `The address ${text}` : `The host ${host} has the address ${text}, which`, kind)
  }

  const checkName = (name: string): void => {
    const kind = kindOfName(name)
    if (kind === 'public' || allowed.hasName(name)) return
    if (kind === 'private' && privateNetwork) return
    throw blocked(`The host ${name}`, kind)
  }

  return {
    checkUrl(url) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        throw refused(`Only http and https are allowed, not ${url.protocol.slice(0, 20)}`)
      if (url.username || url.password) throw refused('A URL with a user name or password in it is not allowed.')
      const host = hostOf(url)
      if (isLiteral(host)) checkAddress(host, host)
      else checkName(host)
    },
    checkAddress,
    lookup: guardedLookup(lookup, checkAddress),
  }
}

/** Host of a URL for comparison: without brackets and without a trailing dot. */
export function hostOf(url: URL): string {
  const { hostname } = url
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.replace(/\.+$/, '') : hostname
}

/** Throws `address-blocked` without the URL, because the URL may contain a secret. */
export function parseUrl(input: string | URL): URL {
  if (input instanceof URL) return input
  const url = URL.canParse(input) ? new URL(input) : undefined
  if (url) return url
  throw new HostError('address-blocked', { detail: 'The URL is not valid.', action: 'Correct the URL.' })
}

/** Matches hosts by name, `*.` suffix, address or CIDR. */
export function readAllowed(entries: readonly string[]) {
  const names = new Set<string>()
  const suffixes: string[] = []
  const ranges: [Address, number][] = []
  for (const raw of entries) {
    const entry = raw.trim().toLowerCase()
    const range = parseRange(entry)
    if (range) ranges.push(range)
    else if (/^\*\.[\w.-]+$/.test(entry)) suffixes.push(entry.slice(1))
    else if (/^[\w.-]+$/.test(entry) && !isLiteral(entry)) names.add(entry.replace(/\.$/, ''))
    else
      throw new HostError('config-invalid', {
        detail: `"${raw}" in \`allow\` is not a host name, an address or a CIDR.`,
      })
  }
  return {
    hasName: (name: string) => names.has(name) || suffixes.some((suffix) => name.endsWith(suffix)),
    hasAddress: (address: Address) =>
      ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)),
  }
}

/** Returns the IPv4 address if it is mapped or translated (NAT64) into IPv6. */
export function parseAddress(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined
  const address = ipaddr.process(text)
  if (!isIPv6(address) || !address.match(NAT64)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

export function isLiteral(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host)
}

function parseRange(entry: string): [Address, number] | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  const address = isLiteral(entry) ? parseAddress(entry) : undefined
  return address && [address, isIPv6(address) ? 128 : 32]
}

function kindOf(address: Address): Kind {
  if (METADATA_ADDRESSES.has(address.toString())) return 'metadata'
  const range = address.range()
  if (PRIVATE_RANGES.has(range)) return 'private'
  // `unicast` means no special range; in IPv6 only the global unicast block is public.
  if (range !== 'unicast' || (isIPv6(address) && !address.match(GLOBAL_UNICAST))) return 'never'
  return 'public'
}

function kindOfName(name: string): Kind {
  if (name === '') return 'never'
  if (METADATA_NAMES.has(name)) return 'metadata'
  return LOCAL_NAMES.has(name) || name.endsWith('.localhost') ? 'private' : 'public'
}

function isIPv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}

const systemLookup: HostLookup = (hostname) => resolveName(hostname, { all: true })

function guardedLookup(resolve: HostLookup, check: (address: string, host: string) => void): LookupFunction {
  const resolveChecked = async (hostname: string, family: unknown): Promise<HostAddress[]> => {
    const answers = await resolve(hostname)
    for (const { address } of answers) check(address, hostname.replace(/\.+$/, '').toLowerCase())
    const usable = family === 4 || family === 6 ? answers.filter((answer) => answer.family === family) : answers
    if (usable.length > 0) return usable
    throw Object.assign(new Error('no addresses'), { code: 'ENOTFOUND' })
  }
  return (hostname, options, callback) => {
    resolveChecked(hostname, options.family).then(
      (addresses) => {
        const [first] = addresses
        if (options.all) callback(null, addresses)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error) => callback(error, []),
    )
  }
}

function blocked(subject: string, kind: Kind): HostError {
  if (kind === 'private') return new HostError('address-blocked', { detail: `${subject} is not a public one.` })
  const what = kind === 'metadata' ? "is a cloud's metadata service" : 'is none that a server can have'
  return refused(`${subject} ${what}.`)
}

function refused(detail: string): HostError {
  return new HostError('address-blocked', { detail, action: 'Use the public http or https URL of the server.' })
}
