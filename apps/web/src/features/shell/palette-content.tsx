import { useQuery } from '@tanstack/react-query'
import { type NavigateOptions, useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { MessagesSquare, Monitor, Moon, Plug, Plus, Search, Sun, Workflow, Wrench } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { answer, client, toolkitsQuery } from '../../lib/api.ts'
import { useUserTheme } from '../../lib/theme.ts'
import { PAGES } from './pages.ts'
import type { PaletteState } from './palette-state.ts'
import { useSession } from './session.ts'

/** The tools page lists all tools. */
const MAX_TOOLS = 300

export function PaletteContent({ close, onClosed }: PaletteState) {
  return (
    <Primitive.Root open onOpenChange={(open) => !open && close()}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 animate-fade-in bg-backdrop" />
        <Primitive.Content
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            onClosed()
          }}
          className="fixed inset-x-3 top-[8dvh] z-50 mx-auto max-w-xl animate-rise-in overflow-hidden rounded-2xl border bg-raised shadow-raised focus:outline-none"
        >
          <Primitive.Title className="sr-only">Search and go</Primitive.Title>
          <Command loop label="Search and go">
            <div className="flex items-center gap-3 border-b px-4">
              <Search aria-hidden className="size-4 text-ink-muted" />
              <Command.Input
                placeholder="A page, a server, a tool, a thread…"
                className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-faint sm:text-sm"
              />
            </div>
            <Command.List className="max-h-[60dvh] overflow-y-auto p-2">
              <Command.Empty className="px-3 py-6 text-center text-sm text-ink-muted">
                Nothing is called so.
              </Command.Empty>
              <Entries close={close} />
            </Command.List>
          </Command>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

function Entries({ close }: { close: () => void }) {
  const navigate = useNavigate()
  const [, chooseTheme] = useUserTheme()
  const isOperator = useSession()?.user?.operator ?? false
  const go = (to: NavigateOptions) => () => {
    // The new page takes the focus, so the palette must not restore it.
    close()
    navigate(to)
  }
  const theme = (name: 'light' | 'dark' | 'system') => () => {
    chooseTheme(name)
    close()
  }
  return (
    <>
      <Group heading="Pages">
        {PAGES.filter(({ operator }) => !operator || isOperator).map(({ to, label, icon: Icon }) => (
          <Entry key={to} value={`page ${label}`} icon={<Icon aria-hidden />} onSelect={go({ to })}>
            {label}
          </Entry>
        ))}
      </Group>
      <Group heading="Do">
        <Entry
          value="add server"
          icon={<Plus aria-hidden />}
          onSelect={go({ to: '/connectors', search: { add: 'stdio' } })}
        >
          Add a server
        </Entry>
        <Entry
          value="new workflow"
          icon={<Plus aria-hidden />}
          onSelect={go({ to: '/workflows/$id', params: { id: 'new' } })}
        >
          New workflow
        </Entry>
        <Entry
          value="new custom toolkit"
          icon={<Plus aria-hidden />}
          onSelect={go({ to: '/connectors/custom/$id', params: { id: 'new' } })}
        >
          New custom toolkit
        </Entry>
        <Entry value="theme light" icon={<Sun aria-hidden />} onSelect={theme('light')}>
          Light theme
        </Entry>
        <Entry value="theme dark" icon={<Moon aria-hidden />} onSelect={theme('dark')}>
          Dark theme
        </Entry>
        <Entry value="theme system" icon={<Monitor aria-hidden />} onSelect={theme('system')}>
          Theme as the system
        </Entry>
      </Group>
      <Things go={go} />
    </>
  )
}

function Things({ go }: { go: (to: NavigateOptions) => () => void }) {
  const { data: toolkits = [] } = useQuery(toolkitsQuery())
  const { data: threads = [] } = useQuery({
    queryKey: ['threads', 'palette'],
    queryFn: async () => (await answer(client.api.threads.$get({ query: {} }))).items,
  })
  const { data: workflows = [] } = useQuery({
    queryKey: ['workflows', 'palette'],
    queryFn: async () => (await answer(client.api.workflows.$get({ query: {} }))).items,
  })
  const tools = toolkits.flatMap((toolkit) => toolkit.tools.map((tool) => ({ tool, toolkit }))).slice(0, MAX_TOOLS)
  return (
    <>
      {toolkits.length > 0 && (
        <Group heading="Servers">
          {toolkits.map(({ uscoId, name, readOnly }) => (
            <Entry
              key={uscoId}
              value={`server ${name} ${uscoId}`}
              icon={<Plug aria-hidden />}
              onSelect={go({ to: '/connectors', search: readOnly ? {} : { edit: uscoId } })}
            >
              {name}
            </Entry>
          ))}
        </Group>
      )}
      {threads.length > 0 && (
        <Group heading="Threads">
          {threads.map(({ id, title }) => (
            <Entry
              key={id}
              value={`thread ${title ?? ''} ${id}`}
              icon={<MessagesSquare aria-hidden />}
              onSelect={go({ to: '/threads/$id', params: { id } })}
            >
              {title || id}
            </Entry>
          ))}
        </Group>
      )}
      {workflows.length > 0 && (
        <Group heading="Workflows">
          {workflows.map(({ id, name }) => (
            <Entry
              key={id}
              value={`workflow ${name} ${id}`}
              icon={<Workflow aria-hidden />}
              onSelect={go({ to: '/workflows/$id', params: { id } })}
            >
              {name}
            </Entry>
          ))}
        </Group>
      )}
      {tools.length > 0 && (
        <Group heading="Tools">
          {tools.map(({ tool, toolkit }) => (
            <Entry
              key={tool.ref}
              value={`tool ${tool.ref} ${tool.title ?? ''}`}
              icon={<Wrench aria-hidden />}
              onSelect={go({ to: '/tools', search: { tool: tool.ref } })}
            >
              <span className="truncate">{tool.title ?? tool.name}</span>
              <span className="ml-auto shrink-0 pl-3 text-xs text-ink-faint">{toolkit.name}</span>
            </Entry>
          ))}
        </Group>
      )}
    </>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-faint"
    >
      {children}
    </Command.Group>
  )
}

interface EntryProps {
  value: string
  icon: ReactNode
  onSelect: () => void
  children: ReactNode
}

function Entry({ value, icon, onSelect, children }: EntryProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-muted"
    >
      {icon}
      {children}
    </Command.Item>
  )
}
