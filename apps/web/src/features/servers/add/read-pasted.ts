/** Classifies pasted text as config, URL or command line. Nothing is executed. */
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
  // The import reads `mcp add` commands and install links of other apps.
  if (/^(\$\s+)?(\w+ mcp add\b|code(-insiders)? .*--add-mcp\b|.*\bmcp-remote\b)/.test(plain)) return { kind: 'config' }
  if (/^(vscode|vscode-insiders|cursor|lmstudio):/.test(plain)) return { kind: 'config' }
  // JSON, with or without leading comments, or a part of a config that starts with a name.
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
