import { describe, expect, it } from 'vitest'
import { readPasted } from './read-pasted.ts'

describe('pasted text', () => {
  it('is a config if it is JSON, complete or partial, with comments or syntax errors', () => {
    for (const text of [
      '{"mcpServers":{}}',
      '// mine\n{}',
      '/* mine */ {}',
      '"github": { "command": "npx" }',
      '{ broken',
      'a\nb',
    ])
      expect(readPasted(text), text).toEqual({ kind: 'config' })
    expect(readPasted('  \n')).toEqual({ kind: 'nothing' })
  })

  it('is a URL, or a command line with its environment variables', () => {
    expect(readPasted(' https://mcp.example.com/mcp ')).toEqual({ kind: 'url', url: 'https://mcp.example.com/mcp' })
    expect(readPasted('$ TOKEN="a b" npx -y server ./my\\ notes')).toMatchObject({
      kind: 'command',
      command: 'npx',
      env: [['TOKEN', 'a b']],
    })
    expect(readPasted('/usr/bin/server --root .')).toMatchObject({ kind: 'command', command: '/usr/bin/server' })
    expect(readPasted('uvx mcp-server-time')).toEqual({
      kind: 'command',
      command: 'uvx',
      args: ['mcp-server-time'],
      env: [],
    })
  })
})

it('leaves lines and links that add a server to another app to the import', () => {
  for (const text of [
    'claude mcp add notes -- npx -y notes-mcp',
    'code --add-mcp \'{"name":"notes"}\'',
    'npx -y mcp-remote https://notes.example/mcp',
    'cursor://anysphere.cursor-deeplink/mcp/install?name=notes',
    '[mcp_servers.notes]\ncommand = "notes-mcp"',
  ])
    expect(readPasted(text)).toEqual({ kind: 'config' })
})
