import { expect, it } from 'vitest'
import { pastedAddress } from './pasted-address.ts'

it('reads the line or the URL of an entry, with comments and last commas where people left them', () => {
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

it('reads a part of a config, servers by name, and one server alone', () => {
  expect(pastedAddress('"mcpServers": { "a": { "command": "x" } }', 'a')).toBe('x')
  expect(pastedAddress('{ "a": { "url": "https://a.example/" } }', 'a')).toBe('https://a.example/')
  expect(pastedAddress('{ "name": "a", "command": "x", "args": ["1"] }', 'a')).toBe('x 1')
})

it('says nothing of what it cannot read', () => {
  for (const text of ['', '{', '[]', '{"mcpServers": [1]}', '{"a": {"tools": []}}'])
    expect(pastedAddress(text, 'a')).toBeUndefined()
})
