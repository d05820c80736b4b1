import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Toolkit, toolkitsQuery } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import type { DialogSearch } from './dialog-search.ts'
import { draftOf, emptyDraft } from './draft.ts'
import { EmptyState } from './empty-state.tsx'
import { ToolkitDialog } from './toolkit-dialog.tsx'
import { LoadingList, Section, ToolkitList } from './toolkit-list.tsx'
import { menuId, type RowActions } from './toolkit-row.tsx'
import { useSignInNews } from './use-sign-in.ts'
import { useSwitchToolkit } from './use-toolkits.ts'

const route = getRouteApi('/shell/connectors')
const ADD_BUTTON = 'add-server'
const YOURS = 'your-servers'

export function ConnectorsPage() {
  const { data: toolkits, error, refetch } = useQuery(toolkitsQuery())
  const navigate = route.useNavigate()
  const [deleting, setDeleting] = useState<Toolkit>()
  const { mutate: switchToolkit } = useSwitchToolkit()
  useSignInNews()
  const show = (search: DialogSearch) => navigate({ search, resetScroll: false })
  const actions: RowActions = {
    onSwitch: (toolkit, enabled) => switchToolkit({ toolkit, enabled }),
    onEdit: (toolkit) => show({ edit: toolkit.uscoId }),
    onDelete: setDeleting,
  }
  return (
    <Page
      title="MCP servers"
      description="Where your agents’ tools come from. Yours are visible to you alone."
      actions={
        <Button id={ADD_BUTTON} variant="primary" onClick={() => show({ add: 'stdio' })}>
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
      {toolkits ? <Sections toolkits={toolkits} actions={actions} /> : !error && <LoadingSection />}
      {toolkits && <SearchDialog toolkits={toolkits} />}
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

function Sections({ toolkits, actions }: { toolkits: readonly Toolkit[]; actions: RowActions }) {
  const yours = toolkits.filter((toolkit) => !toolkit.readOnly)
  const global = toolkits.filter((toolkit) => toolkit.readOnly)
  return (
    <>
      <Section id={YOURS} title="Your servers" count={yours.length}>
        {yours.length === 0 ? <EmptyState /> : <ToolkitList toolkits={yours} actions={actions} />}
      </Section>
      <Section
        id="global-servers"
        title="Global servers"
        count={global.length}
        note="Provided by the operator for everyone. You can switch them on or off for yourself."
      >
        {global.length === 0 ? (
          <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">There are none.</p>
        ) : (
          <ToolkitList toolkits={global} actions={actions} />
        )}
      </Section>
    </>
  )
}

function LoadingSection() {
  return (
    <Section id={YOURS} title="Your servers">
      <LoadingList />
    </Section>
  )
}

/** The dialog that the address asks for. */
function SearchDialog({ toolkits }: { toolkits: readonly Toolkit[] }) {
  const { add, edit } = route.useSearch()
  const navigate = route.useNavigate()
  const onClose = () => navigate({ search: {}, resetScroll: false, replace: true })
  const yours = toolkits.filter((toolkit) => !toolkit.readOnly)
  const toolkit = yours.find(({ uscoId }) => uscoId === edit)
  if (add)
    return (
      <ToolkitDialog
        initial={emptyDraft(add)}
        others={yours}
        onClose={onClose}
        onClosed={() => focusFirst(ADD_BUTTON)}
      />
    )
  if (!toolkit) return null
  return (
    <ToolkitDialog
      key={toolkit.uscoId}
      initial={draftOf(toolkit)}
      toolkit={toolkit}
      others={yours.filter((other) => other !== toolkit)}
      onClose={onClose}
      onClosed={() => focusFirst(menuId(toolkit), YOURS)}
    />
  )
}

// The element that opened a dialog may be gone when it closes; the focus then goes to what stands near it.
function focusFirst(...ids: string[]): void {
  const found = ids.map((id) => document.getElementById(id)).find((element) => element !== null)
  found?.focus()
}
