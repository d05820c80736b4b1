import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, Braces, ClipboardPaste, Globe, type LucideIcon, Terminal } from 'lucide-react'
import type { DialogSearch } from '../add/dialog-search.ts'
import { isUnavailable } from '../add/source-tabs.tsx'
import { stdioQuery } from '../queries.ts'

interface ModeButton {
  add: NonNullable<DialogSearch['add']>
  icon: LucideIcon
  title: string
  text: string
  example: string
}

const MODES: readonly ModeButton[] = [
  {
    add: 'stdio',
    icon: Terminal,
    title: 'Run a command',
    text: 'A process beside Loadout that speaks over stdio.',
    example: 'npx -y @modelcontextprotocol/server-filesystem ./notes',
  },
  {
    add: 'http',
    icon: Globe,
    title: 'Connect to a URL',
    text: 'A server elsewhere, over Streamable HTTP or SSE.',
    example: 'https://mcp.example.com/mcp',
  },
  {
    add: 'paste',
    icon: ClipboardPaste,
    title: 'Paste a config',
    text: 'What Claude, Cursor, VS Code and others keep, looked at first.',
    example: '{ "mcpServers": { … } }',
  },
  {
    add: 'custom',
    icon: Braces,
    title: 'Write your own tools',
    text: 'A custom toolkit: no server, some code in a sandbox.',
    example: 'return input.name.toUpperCase()',
  },
]

/** First screen of a new user: what a server is, and how to add one. */
export function EmptyState() {
  const { data: rules } = useQuery(stdioQuery())
  const open = MODES.filter(({ add }) => add !== 'stdio' || !isUnavailable(rules))
  return (
    <div className="grid gap-6 rounded-xl border bg-surface p-5 shadow-flat sm:p-7">
      <div className="grid max-w-xl gap-1.5">
        <h3 className="text-lg font-semibold tracking-tight">Add your first server</h3>
        <p className="text-ink-muted">
          An MCP server gives your agents tools: files, issues, databases. Nothing connects until a tool is needed, and
          every environment and header value is stored encrypted.
        </p>
      </div>
      <ul className="grid gap-3 md:grid-cols-2">
        {open.map((mode) => (
          <li key={mode.add} className="grid">
            <ModeLink mode={mode} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function ModeLink({ mode: { add, icon: Icon, title, text, example } }: { mode: ModeButton }) {
  return (
    <Link
      to="/connectors"
      search={{ add }}
      resetScroll={false}
      className="group grid content-start gap-3 rounded-xl border bg-raised p-4 transition-colors hover:border-accent"
    >
      <span className="flex items-center gap-2.5 text-sm font-medium">
        <Icon aria-hidden className="size-4 text-ink-muted" strokeWidth={1.75} />
        {title}
        <ArrowRight
          aria-hidden
          className="ml-auto size-4 text-ink-faint transition-transform group-hover:translate-x-0.5 group-hover:text-accent"
        />
      </span>
      <span className="text-sm text-ink-muted">{text}</span>
      <code className="rounded-md bg-sunken px-2 py-1.5 font-mono text-xs leading-relaxed wrap-anywhere text-ink-muted">
        {example}
      </code>
    </Link>
  )
}
