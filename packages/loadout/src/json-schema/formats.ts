/**
 * Asserted formats: those that forms and tools rely on and that a linear test decides. Other formats are annotations
 * and accept every value, as in JSON Schema 2020-12.
 */

export interface Format {
  /** Text after `must be …`, with an example that a model can copy. */
  expected: string
  test(text: string): boolean
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
const DURATION = /^P(?:\d+W|(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~\u{80}-\u{10ffff}-]+$/iu
const QUOTED = /^"(?:[^"\\\r\n]|\\[^\r\n])*"$/
const URI = /^[a-z][a-z0-9+.-]*:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/i
const BAD_PERCENT = /%(?![0-9a-f]{2})/i
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i

export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['date', { expected: 'a date such as 2026-01-31', test: isDate }],
  ['time', { expected: 'a time with its zone such as 13:45:00Z', test: isTime }],
  ['date-time', { expected: 'a date and time with its zone such as 2026-01-31T13:45:00Z', test: isDateTime }],
  ['duration', { expected: 'a duration such as P1DT12H', test: (text) => text.length <= 100 && DURATION.test(text) }],
  ['email', { expected: 'an email address such as name@example.com', test: isEmail }],
  ['hostname', { expected: 'a host name such as www.example.com', test: isHostname }],
  ['ipv4', { expected: 'an IPv4 address such as 192.0.2.1', test: isIpv4 }],
  ['ipv6', { expected: 'an IPv6 address such as 2001:db8::1', test: isIpv6 }],
  ['uri', { expected: 'a URI with its scheme such as https://example.com/path', test: isUri }],
  ['uuid', { expected: 'a UUID such as 123e4567-e89b-42d3-a456-426614174000', test: (text) => UUID.test(text) }],
])

function isDate(text: string): boolean {
  const found = DATE.exec(text)
  if (!found) return false
  const year = Number(found[1])
  const month = Number(found[2])
  const day = Number(found[3])
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}

function isTime(text: string): boolean {
  const found = TIME.exec(text)
  if (!found) return false
  const hour = Number(found[1])
  const minute = Number(found[2])
  const second = Number(found[3])
  const offsetHour = Number(found[5] ?? 0)
  const offsetMinute = Number(found[6] ?? 0)
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last second of a UTC day.
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439
}

function isDateTime(text: string): boolean {
  return /^[tT]$/.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

function isHostname(text: string): boolean {
  if (text.length > 253) return false
  // Positions 3 and 4 are "--" only in punycode, which starts with xn.
  return text.split('.').every((label) => LABEL.test(label) && (label.slice(2, 4) !== '--' || /^xn/i.test(label)))
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > 320) return false
  const local = text.slice(0, at)
  const domain = text.slice(at + 1)
  if (!QUOTED.test(local) && !local.split('.').every((atom) => ATOM.test(atom))) return false
  if (!domain.startsWith('[') || !domain.endsWith(']')) return isHostname(domain)
  const address = domain.slice(1, -1)
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address)
}

function isIpv4(text: string): boolean {
  if (text.length > 15) return false
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1)?.at(-1)
  const embedded = last?.includes('.') ? 1 : 0
  if (embedded && (!last || !isIpv4(last))) return false
  const hex = embedded ? groups.flat().slice(0, -1) : groups.flat()
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false
  const total = hex.length + 2 * embedded
  return halves.length === 2 ? total < 8 : total === 8
}

function isUri(text: string): boolean {
  if (!URI.test(text) || BAD_PERCENT.test(text) || text.indexOf('#') !== text.lastIndexOf('#')) return false
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined) return !/[[\]]/.test(text)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (/[[\]]/.test(text.replace(host, ''))) return false
  const literal = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1]
  if (literal !== undefined) return isIpv6(literal) || /^v[0-9a-f]+\.[^[\]]+$/i.test(literal)
  return /^[^:[\]]*(?::\d*)?$/.test(host)
}
