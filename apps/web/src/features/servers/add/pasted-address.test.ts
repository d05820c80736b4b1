import { expect, it } from 'vitest'
import { pastedAddress } from './pasted-address.ts'

it('pastedAddress reads the command line or the URL of an entry, with comments and trailing commas', () => {
  const text = `{
    // "files": { "command": "not this" },
    "mcpServers": {
      "files": { "command": "npx", "args": ["-y", "a // b", "[x,]"], },
      /* elsewhere */ "tracker": { "serverUrl": "https://mcp.example.com/mcp" },
    },
  }`
  expect(pastedAddress(text, 'files')).toBe("npx -y 'a // b' [x,]")
  expect(pastedAddress(text, 'tracker')).toBe('https://mcp.example.com/mcp')
  expect(pastedAddress(text, 'constructor')).toBeUndefined()
})

it('pastedAddress reads a config fragment, servers by name, and a single server', () => {
  expect(pastedAddress('"mcpServers": { "a": { "command": "x" } }', 'a')).toBe('x')
  expect(pastedAddress('{ "a": { "url": "https://a.example/" } }', 'a')).toBe('https://a.example/')
  expect(pastedAddress('{ "name": "a", "command": "x", "args": ["1"] }', 'a')).toBe('x 1')
})

it('pastedAddress returns undefined for unreadable text', () => {
  for (const text of ['', '{', '[]', '{"mcpServers": [1]}', '{"a": {"tools": []}}'])
    expect(pastedAddress(text, 'a')).toBeUndefined()
})
