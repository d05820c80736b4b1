import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ListChecks, Plus, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { type Toolkit, toolkitsQuery } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { ConnectorDialogs } from '../add/connector-dialogs.tsx'
import type { DialogSearch } from '../add/dialog-search.ts'
import { OlderOffer, useOlderConfig } from '../add/legacy-config.tsx'
import { ADD_BUTTON, focusFirst, YOURS } from '../form/focus-restore.ts'
import { type StdioRules, stdioQuery } from '../queries.ts'
import { Review, useReview } from '../tools/review.ts'
import { useSignInNews } from '../use-sign-in.ts'
import { useSwitchToolkit } from '../use-toolkits.ts'
import { Attention } from './attention.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { EmptyState } from './empty-state.tsx'
import { failedFirst, filterToolkits } from './filter-toolkits.ts'
import { menuId, openerId, type RowActions } from './row-actions.ts'
import { Toolbar } from './toolbar.tsx'
import { ListSection, LoadingList, type Selected, ToolkitList } from './toolkit-list.tsx'
import { type Bulk, useBulk } from './use-bulk.ts'

const route = getRouteApi('/shell/connectors')
/** The toolbar appears above this number of servers. */
const MANY = 6

export function ConnectorsPage() {
  const { data: toolkits, error, refetch } = useQuery(toolkitsQuery())
  const { show, actions, deleting, setDeleting } = useActions()
  const older = useOlderConfig()
  const { data: rules } = useQuery(stdioQuery())
  useSignInNews()
  const { reviewed, review } = useReview()
  const openAndReview = (toolkit: Toolkit) => {
    document.getElementById(openerId(toolkit))?.focus()
    // Clears filters that would hide the server.
    show({ open: toolkit.uscoId, q: undefined, status: undefined })
    review(toolkit)
  }
  return (
    <Page
      title="MCP servers"
      description="Where your agents’ tools come from. Yours are visible to you alone."
      actions={
        <Button
          id={ADD_BUTTON}
          variant="primary"
          onClick={() => show({ add: rules?.policy === 'off' ? 'http' : 'stdio' })}
        >
          <Plus aria-hidden /> Add server
        </Button>
      }
    >
      {error && (
        <ProblemNotice error={error}>
          <p className="mt-2">
            <Button size="small" onClick={() => refetch()}>
              Try again
            </Button>
          </p>
        </ProblemNotice>
      )}
      {older.offered && (
        <OlderOffer
          config={older.offered}
          onLook={() => show({ add: 'paste' })}
          onLeave={older.leave}
          onRemove={older.remove}
        />
      )}
      {toolkits && (
        <Attention
          toolkits={toolkits}
          rules={rules}
          onReview={openAndReview}
          onAnswer={(toolkit) => show({ answer: toolkit.uscoId })}
        />
      )}
      <Review value={reviewed}>
        {toolkits ? <Sections toolkits={toolkits} rules={rules} actions={actions} /> : !error && <LoadingSection />}
      </Review>
      {toolkits && <ConnectorDialogs toolkits={toolkits} older={older} />}
      {deleting && (
        <DeleteDialog
          toolkit={deleting}
          onClose={() => setDeleting(undefined)}
          onClosed={() => focusFirst(menuId(deleting), YOURS)}
        />
      )}
    </Page>
  )
}

function useActions() {
  const navigate = route.useNavigate()
  const goTo = useNavigate()
  const [deleting, setDeleting] = useState<Toolkit>()
  const { mutate: switchToolkit } = useSwitchToolkit()
  // A dialog keeps the unfolded server and the filters.
  const show = (dialog: DialogSearch) =>
    navigate({ search: ({ open, q, status }) => ({ open, q, status, ...dialog }), resetScroll: false })
  const actions: RowActions = {
    onSwitch: (toolkit, enabled) => switchToolkit({ toolkit, enabled }),
    onOpen: ({ uscoId }, open) =>
      navigate({
        search: (old) => ({ ...old, open: open ? uscoId : undefined }),
        resetScroll: false,
        replace: true,
      }),
    onEdit: (toolkit) =>
      toolkit.server.type === 'custom'
        ? goTo({ to: '/connectors/custom/$id', params: { id: toolkit.uscoId } })
        : show({ edit: toolkit.uscoId }),
    onDelete: setDeleting,
  }
  return { show, actions, deleting, setDeleting }
}

interface SectionsProps {
  toolkits: readonly Toolkit[]
  rules: StdioRules | undefined
  actions: RowActions
}

function Sections({ toolkits, rules, actions }: SectionsProps) {
  const { open, q, status } = route.useSearch()
  const navigate = route.useNavigate()
  const found = failedFirst(filterToolkits(toolkits, { q, status, rules }))
  const isFiltered = q !== undefined || status !== undefined
  const own = toolkits.filter(({ tier }) => tier !== 'app')
  const yours = found.filter(({ tier }) => tier !== 'app')
  const global = found.filter(({ tier }) => tier === 'app')
  const bulk = useBulk()
  const { selected, uscoIds, setUscoIds } = useSelected()
  return (
    <>
      {(toolkits.length > MANY || isFiltered) && (
        <Toolbar
          q={q ?? ''}
          status={status}
          onChange={(search) => navigate({ search: { open, ...search }, replace: true, resetScroll: false })}
        >
          <BulkButtons toolkits={found} bulk={bulk} isSelecting={uscoIds !== undefined} onSelecting={setUscoIds} />
        </Toolbar>
      )}
      {uscoIds && (
        <BulkBar
          visible={found}
          selected={found.filter(({ uscoId }) => uscoIds.has(uscoId))}
          bulk={bulk}
          onSelect={(ids) => setUscoIds(new Set(ids))}
          onDone={() => setUscoIds(undefined)}
        />
      )}
      <ListSection id={YOURS} title="Your servers" count={yours.length}>
        {yours.length > 0 && <ToolkitList toolkits={yours} open={open} actions={actions} selected={selected} />}
        {yours.length === 0 && (own.length > 0 ? <Nothing>None of your servers match.</Nothing> : <EmptyState />)}
      </ListSection>
      <ListSection
        id="global-servers"
        title="Global servers"
        count={global.length}
        note="Provided by the operator for everyone. You can switch them, and their tools, on or off for yourself."
      >
        {global.length === 0 ? (
          <Nothing>{isFiltered ? 'No global server matches.' : 'There are none.'}</Nothing>
        ) : (
          <ToolkitList toolkits={global} open={open} actions={actions} selected={selected} />
        )}
      </ListSection>
    </>
  )
}

/** Selection for bulk actions; undefined while the selection mode is off. */
function useSelected() {
  const [uscoIds, setUscoIds] = useState<ReadonlySet<string>>()
  const selected: Selected | undefined = uscoIds && {
    uscoIds,
    onSelect: (uscoId, isSelected) => {
      const next = new Set(uscoIds)
      if (isSelected) next.add(uscoId)
      else next.delete(uscoId)
      setUscoIds(next)
    },
  }
  return { selected, uscoIds, setUscoIds }
}

interface BulkButtonsProps {
  toolkits: readonly Toolkit[]
  bulk: Bulk
  isSelecting: boolean
  onSelecting: (uscoIds: ReadonlySet<string> | undefined) => void
}

function BulkButtons({ toolkits, bulk, isSelecting, onSelecting }: BulkButtonsProps) {
  const { progress } = bulk
  return (
    <>
      <Button aria-pressed={isSelecting} onClick={() => onSelecting(isSelecting ? undefined : new Set())}>
        <ListChecks aria-hidden /> Select
      </Button>
      <Button
        aria-label="Refresh tools of all servers"
        aria-disabled={progress !== undefined}
        onClick={() => void bulk.run('refresh', toolkits)}
      >
        <RefreshCw aria-hidden className={progress === undefined ? undefined : 'motion-safe:animate-spin'} />
        <span role="status">{isSelecting ? 'Refresh all' : (progress ?? 'Refresh all')}</span>
      </Button>
    </>
  )
}

const Nothing = ({ children }: { children: string }) => (
  <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">{children}</p>
)

function LoadingSection() {
  return (
    <ListSection id={YOURS} title="Your servers">
      <LoadingList />
    </ListSection>
  )
}
