import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type Loopback, listen, names, watchConnects } from '../../../../test/loopback.ts'
import { createGuardedFetch, type GuardOptions } from '../../src/connections/http/guard/guarded-fetch.ts'

let canary: Loopback
const connects = watchConnects()

beforeAll(async () => {
  canary = await listen((_, response) => response.end('secret'))
})
afterAll(async () => {
  connects.stop()
  await canary[Symbol.asyncDispose]()
})
afterEach(() => {
  connects.attempts.length = 0
  expect(canary.requests).toEqual([])
  expect(canary.sockets).toEqual([])
})

async function ask(url: string, options: GuardOptions = {}): Promise<string> {
  const guarded = createGuardedFetch({ connectTimeoutMs: 60_000, ...options })
  const code = await codeOf(guarded.fetch(url))
  await guarded.close()
  return code
}

/** `PORT` stands for the canary's. */
const LITERALS = [
  'http://127.0.0.1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://127.255.255.254:PORT/',
  'http://2130706433:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://0177.1:PORT/',
  'http://017700000001:PORT/',
  'http://0x7f.0.0.1:PORT/',
  'http://0x7f.1:PORT/',
  'http://0x7f000001:PORT/',
  'http://0X7F000001:PORT/',
  'http://127.0.0.1%2e:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://１２７.０.０.１:PORT/',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://127。0。0。1:PORT/',
  'http:\\\\127.0.0.1:PORT\\',
  'http:127.0.0.1:PORT',
  'http://0.0.0.0:PORT/',
  'http://0:PORT/',
  'http://0.1.2.3:PORT/',
  'http://[::]:PORT/',
  'http://[::1]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[0000::0001]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[0:0:0:0:0:ffff:7f00:0001]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[::7f00:1]:PORT/',
  'http://[::ffff:0:7f00:1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2001:0:7f00:1::]/',
  'http://[fe80::1%25lo]:PORT/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456::1]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://192.0.0.1/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://localhost:PORT/',
  'http://LOCALHOST:PORT/',
  'http://localhost.:PORT/',
  'http://localhost..:PORT/',
  'http://app.localhost:PORT/',
  'http://ｌｏｃａｌｈｏｓｔ:PORT/',
  'http://localhost.localdomain:PORT/',
  'http://ip6-localhost:PORT/',
  'http://user:secret@127.0.0.1:PORT/',
  'http://public.test@127.0.0.1:PORT/',
]

const METADATA = [
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254./latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://169.254.170.2/v2/credentials',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/machine',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./computeMetadata/v1/',
  'http://metadata/computeMetadata/v1/',
  'http://instance-data/latest/meta-data/',
]

const SCHEMES = [
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:6379/_INFO',
  'data:text/plain,x',
  'javascript:alert(1)',
  'ws://127.0.0.1/',
  'blob:http://127.0.0.1/1',
  'unix:/var/run/docker.sock',
  'about:blank',
  'dict://127.0.0.1:11211/',
  'http://',
  'not a url',
]

describe('blocked URLs', () => {
  const cases = [...LITERALS, ...METADATA, ...SCHEMES]
  it('include more than 90 cases', () => expect(cases.length).toBeGreaterThan(90))

  for (const url of cases)
    it(url, async () => {
      const { lookup, asked } = names({})
      expect(await ask(url.replaceAll('PORT', String(canary.port)), { lookup })).toBe('address-blocked')
      expect(asked).toEqual([])
      expect(connects.attempts).toEqual([])
    })

  for (const url of [...METADATA, 'http://224.0.0.1/', 'http://[ff02::1]/', 'http://240.0.0.1/', ...SCHEMES])
    it(`include ${url} even if private addresses are allowed`, async () => {
      expect(await ask(url, { privateNetwork: true })).toBe('address-blocked')
      expect(connects.attempts).toEqual([])
    })
})
