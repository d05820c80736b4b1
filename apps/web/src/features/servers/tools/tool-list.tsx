/** Tools of one server, virtualized above 60 rows, because a server may have thousands. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type Toolkit, toolkitQuery } from '../../../lib/api.ts'
import { LongList } from '../../../ui/data/long-list.tsx'
import { decisionsQuery, toolGrantsQuery, userRulesQuery } from '../queries.ts'
import { useSetToolPolicy, useSwitchTools } from '../use-tools.ts'
import { useReviewed } from './review.ts'
import { choiceOf } from './tool-policy.ts'
import { ServerToolRow, type ToolRowProps } from './tool-row.tsx'

const DRAWN_WHOLE = 60
const ROW_PX = 92

interface ToolListProps {
  toolkit: Toolkit
  tools: Toolkit['tools']
}

export function ServerToolList({ toolkit, tools }: ToolListProps) {
  const row = useRows(toolkit)
  if (tools.length > DRAWN_WHOLE) return <ManyTools toolkit={toolkit} tools={tools} row={row} />
  return (
    <ul aria-label={`Tools of ${toolkit.name}`}>
      {tools.map((tool, index) => (
        <ServerToolRow key={tool.name} {...row(tool)} position={positionOf(index, tools.length)} />
      ))}
    </ul>
  )
}

const positionOf = (index: number, count: number) => ({
  'data-index': index,
  'aria-setsize': count,
  'aria-posinset': index + 1,
})

type Row = (tool: Toolkit['tools'][number]) => ToolRowProps

function ManyTools({ toolkit, tools, row }: ToolListProps & { row: Row }) {
  const reviewed = useReviewed(toolkit)
  const index = reviewed === undefined ? -1 : tools.findIndex(({ name }) => name === reviewed)
  return (
    <LongList
      items={tools}
      noun="tool"
      keyOf={({ name }) => name}
      rowPx={ROW_PX}
      label={`Tools of ${toolkit.name}`}
      wanted={{ index, align: 'start' }}
      className="max-h-[34rem] rounded-lg border px-3"
    >
      {(tool, key, position) => <ServerToolRow key={key} {...row(tool)} position={position} />}
    </LongList>
  )
}

function useRows(toolkit: Toolkit): Row {
  const { data: rules = [] } = useQuery(userRulesQuery())
  const { data: grants = [], dataUpdatedAt } = useQuery(toolGrantsQuery())
  const { data: decisions } = useQuery(decisionsQuery(toolkit.id, dataUpdatedAt))
  // The list has no icons.
  const { data: whole } = useQuery(toolkitQuery(toolkit.uscoId))
  const icons = useMemo(() => new Map(whole?.tools.map((tool) => [tool.name, tool.icons])), [whole])
  const { mutate: switchTools } = useSwitchTools()
  const choose = useSetToolPolicy()
  // Changed tools are unfolded initially.
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(toolkit.tools.filter(({ changed }) => changed).map(({ name }) => name)),
  )
  const reviewed = useReviewed(toolkit)
  if (reviewed !== undefined && !open.has(reviewed)) setOpen(new Set(open).add(reviewed))
  const own = useMemo(() => {
    const refs = toolkit.tools.map(({ ref }) => [ref, choiceOf(ref, rules, grants)] as const)
    return new Map(refs)
  }, [toolkit.tools, rules, grants])
  return (tool) => ({
    toolkit,
    tool,
    icons: icons.get(tool.name),
    open: open.has(tool.name),
    decision: decisions?.get(tool.ref),
    choice: own.get(tool.ref) ?? 'inherit',
    choosing: choose.isPending,
    onOpen: (isOpen) => {
      const next = new Set(open)
      if (isOpen) next.add(tool.name)
      else next.delete(tool.name)
      setOpen(next)
    },
    onSwitch: (on) => switchTools({ toolkit, names: [tool.name], on }),
    onChoose: (choice) => choose.mutate({ ref: tool.ref, choice }),
  })
}
