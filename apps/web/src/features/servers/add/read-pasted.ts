/** What somebody pasted: a config of servers, or what goes into another door. Told by its form, and never run. */
import { splitCommand } from './split-command.ts'

export type Pasted =
  | { kind: 'nothing' }
  | { kind: 'config' }
  | { kind: 'url'; url: string }
  | { kind: 'command'; command: string; args: string[]; env: Array<[string, string]> }

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s

export function readPasted(text: string): Pasted {
  const plain = text.trim()
  if (plain === '') return { kind: 'nothing' }
  if (/^https?:\/\/\S+$/i.test(plain)) return { kind: 'url', url: plain }
  // Lines and links that add a server to another app are read by the import.
  if (/^(\$\s+)?(\w+ mcp add\b|code(-insiders)? .*--add-mcp\b|.*\bmcp-remote\b)/.test(plain)) return { kind: 'config' }
  if (/^(vscode|vscode-insiders|cursor|lmstudio):/.test(plain)) return { kind: 'config' }
  // JSON begins so, with or without comments before it; a part of a config begins with a name.
  if (/^[{["/]/.test(plain))
    return plain.startsWith('/') && !/^\/[/*]/.test(plain) ? commandOf(plain) : { kind: 'config' }
  return plain.includes('\n') ? { kind: 'config' } : commandOf(plain)
}

function commandOf(line: string): Pasted {
  const words = splitCommand(line.replace(/^\$\s+/, ''))
  const env: Array<[string, string]> = []
  for (let found = ASSIGNMENT.exec(words[0] ?? ''); found; found = ASSIGNMENT.exec(words[0] ?? '')) {
    env.push([found[1] as string, found[2] as string])
    words.shift()
  }
  const [command = '', ...args] = words
  return command === '' ? { kind: 'config' } : { kind: 'command', command, args, env }
}
